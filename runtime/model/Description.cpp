//===- Description.cpp - descriptions as text -----------------------------===//
//
// A line with the version and a checksum, then JSON. A struct is an array of
// its fields in order. One function per struct lists them, for both writing and
// reading.
//
//===----------------------------------------------------------------------===//

#include "runtime/model/Description.h"
#include "runtime/data/Checksum.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace fovea::runtime;
using nlohmann::json;

/// Increase it with every change of the format.
static constexpr int formatVersion = 12;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

// `a(x.field)` writes a field, or reads it; an enum goes with its last value.

template <typename A> static void fields(A &a, Program::Term &x) {
  a(x.kind, Program::Term::Modulo);
  a(x.value);
}

template <typename A> static void fields(A &a, Program::Length &x) {
  a(x.name), a(x.parent), a(x.formula), a(x.slot), a(x.valuesSlot);
  a(x.parentLayout), a(x.parentExtent), a(x.maximumSlot);
}

template <typename A> static void fields(A &a, Program::Layout &x) {
  a(x.lengths), a(x.slot), a(x.kind, Program::Layout::InBuffer);
}

template <typename A> static void fields(A &a, Program::Order &x) {
  a(x.length), a(x.orderSlot), a(x.activeSlot);
}

template <typename A> static void fields(A &a, Program::Array &x) {
  a(x.name), a(x.role, Program::Role::Packed);
  a(x.element, Program::Element::BF16);
  a(x.layout), a(x.count), a(x.slot), a(x.firstUse), a(x.lastUse), a(x.shape);
  a(x.part), a(x.partSlot), a(x.parts), a(x.onChip), a(x.extra);
}

template <typename A> static void fields(A &a, Program &x) {
  a(x.lengths), a(x.layouts), a(x.orders), a(x.arrays);
  a(x.numSlots), a(x.stepSlot), a(x.insideSlot), a(x.hostSlot);
  a(x.entry), a(x.prepare);
}

template <typename A> static void fields(A &a, Decoder::State &x) {
  a(x.name), a(x.initial), a(x.next), a(x.written);
  a(x.element, Program::Element::BF16), a(x.shape);
}

template <typename A> static void fields(A &a, Decoder::Parameter &x) {
  a(x.name), a(x.value), a(x.shape);
}

template <typename A> static void fields(A &a, Decoder::Choice &x) {
  a(x.name), a(x.distribution, Decoder::Distribution::Mixture);
  a(x.parameters), a(x.shape), a(x.element, Program::Element::BF16);
  a(x.hasEnd), a(x.end);
}

template <typename A> static void fields(A &a, Decoder::Loop &x) {
  a(x.firstChoice), a(x.endChoice), a(x.extent), a(x.reverse);
  a(x.firstState), a(x.endState);
}

template <typename A> static void fields(A &a, Decoder::Mark &x) {
  a(x.kind, Decoder::Mark::Score), a(x.segment), a(x.value);
}

template <typename A> static void fields(A &a, Decoder::Stack &x) {
  a(x.value), a(x.axis), a(x.element, Program::Element::BF16), a(x.shape);
}

template <typename A> static void fields(A &a, Decoder::Output &x) {
  a(x.name), a(x.value);
}

template <typename A> static void fields(A &a, Decoder &x) {
  a(x.model), a(x.programs), a(x.encode), a(x.segments), a(x.finish);
  a(x.lengths), a(x.isSearch), a(x.reverse), a(x.extent), a(x.known);
  a(x.longest), a(x.states), a(x.inner), a(x.choices), a(x.loops);
  a(x.marks), a(x.stacks);
  a(x.outputs), a(x.later);
}

/// The defaults of a spec; the command line provides the other search options.
template <typename A> static void fields(A &a, SearchOptions &x) {
  a(x.beam), a(x.longest), a(x.shortest);
  a(x.normalise, Normalise::Gnmt), a(x.gnmt);
}

template <typename A> static void fields(A &a, DataAxis &x) {
  a(x.length), a(x.size), a(x.parent);
}

template <typename A> static void fields(A &a, DataSpec &x) {
  a(x.name), a(x.kind, DataKind::Bit), a(x.axes), a(x.limit);
  a(x.limitLength);
}

template <typename A> static void fields(A &a, TextField &x) {
  a(x.name), a(x.isSymbols), a(x.isSentence), a(x.ends), a(x.vocabulary);
  a(x.size), a(x.labels), a(x.numIndices), a(x.separators);
}

template <typename A> static void fields(A &a, ParameterDescription &x) {
  a(x.path), a(x.shape);
}

template <typename A> static void fields(A &a, SoundOptions &x) {
  a(x.rate), a(x.filters), a(x.deltas), a(x.window), a(x.shift);
  a(x.normalise), a(x.resample);
}

template <typename A> static void fields(A &a, PixelOptions &x) {
  a(x.mean), a(x.deviation), a(x.isBit), a(x.resize);
}

template <typename A> static void fields(A &a, DataDescription &x) {
  a(x.spec), a(x.text), a(x.isChosen), a(x.isText), a(x.isSound), a(x.sound);
  a(x.isPicture), a(x.pixels);
}

template <typename A> static void fields(A &a, UnknownWords &x) {
  a(x.weights), a(x.generated), a(x.given), a(x.dictionary);
}

template <typename A> static void fields(A &a, ShownEquation &x) {
  a(x.name), a(x.extents), a(x.offsets);
}

template <typename A> static void fields(A &a, AxisSymbols &x) {
  a(x.extent), a(x.field), a(x.isChosen), a(x.within);
}

template <typename A> static void fields(A &a, Description &x) {
  a(x.model), a(x.compiler), a(x.cpu), a(x.features), a(x.isDouble);
  a(x.averagesExamples), a(x.parameters), a(x.data), a(x.programs);
  a(x.hasDecoder), a(x.decoder), a(x.search), a(x.unknown);
  a(x.shows), a(x.axisSymbols);
  a(x.hasTraining), a(x.train), a(x.dims), a(x.frozen), a(x.states),
      a(x.vocabularies);
}

namespace {

/// Appends the fields of one struct to an array.
class Writer {
public:
  explicit Writer(json &array) : array(array) { array = json::array(); }

  template <typename T> void operator()(T &value) {
    array.push_back(of(value));
  }
  template <typename T> void operator()(T &value, T) {
    array.push_back(static_cast<int>(value));
  }

private:
  static json of(bool &value) { return value; }
  static json of(int &value) { return value; }
  static json of(int64_t &value) { return value; }
  static json of(double &value) { return value; }
  static json of(std::string &value) { return value; }
  template <typename T> static json of(std::optional<T> &value) {
    return value ? of(*value) : json();
  }
  template <typename T> static json of(std::vector<T> &values) {
    json list = json::array();
    for (T &value : values)
      list.push_back(of(value));
    return list;
  }
  template <typename T> static json of(std::map<std::string, T> &values) {
    json object = json::object();
    for (auto &[name, value] : values)
      object[name] = of(value);
    return object;
  }
  template <typename T> static json of(T &value) {
    json inner;
    Writer writer(inner);
    fields(writer, value);
    return inner;
  }

  json &array;
};

/// Reads the fields in the same order; sets `isGood` to false on a mismatch.
class Reader {
public:
  Reader(const json &array, bool &isGood) : array(array), isGood(isGood) {
    isGood &= array.is_array();
  }

  template <typename T> void operator()(T &value) {
    if (const json *next = take())
      get(*next, value);
  }
  template <typename T> void operator()(T &value, T last) {
    int number = 0;
    operator()(number);
    isGood &= number >= 0 && number <= static_cast<int>(last);
    value = isGood ? static_cast<T>(number) : T{};
  }
  void finish() { isGood &= next == array.size(); }

private:
  const json *take() {
    isGood = isGood && next < array.size();
    return isGood ? &array[next++] : nullptr;
  }

  void get(const json &from, bool &value) {
    isGood &= from.is_boolean();
    value = isGood && from.get<bool>();
  }
  void get(const json &from, int64_t &value) {
    isGood &= from.is_number_integer();
    value = isGood ? from.get<int64_t>() : 0;
  }
  void get(const json &from, int &value) {
    int64_t number = 0;
    get(from, number);
    value = static_cast<int>(number);
    isGood &= value == number;
  }
  void get(const json &from, double &value) {
    isGood &= from.is_number();
    value = isGood ? from.get<double>() : 0;
  }
  template <typename T> void get(const json &from, std::optional<T> &value) {
    value.reset();
    if (!from.is_null())
      get(from, value.emplace());
  }
  void get(const json &from, std::string &value) {
    isGood &= from.is_string();
    if (isGood)
      value = from.get_ref<const std::string &>();
  }
  template <typename T> void get(const json &from, std::vector<T> &values) {
    values.clear();
    isGood &= from.is_array();
    for (size_t i = 0; isGood && i < from.size(); ++i)
      get(from[i], values.emplace_back());
  }
  template <typename T>
  void get(const json &from, std::map<std::string, T> &values) {
    values.clear();
    isGood &= from.is_object();
    if (!isGood)
      return;
    for (auto entry = from.begin(); entry != from.end(); ++entry)
      get(*entry, values[entry.key()]);
  }
  template <typename T> void get(const json &from, T &value) {
    Reader reader(from, isGood);
    fields(reader, value);
    reader.finish();
  }

  const json &array;
  bool &isGood;
  size_t next = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// No program has more slots or larger extents.
static constexpr int64_t mostSlots = 1 << 24, largestExtent = int64_t(1) << 40;

/// Returns whether a formula uses only lengths before `number`, and leaves one
/// value.
static bool isFormula(const std::vector<Program::Term> &formula,
                      size_t number) {
  size_t depth = 0;
  for (const Program::Term &term : formula) {
    if (term.kind == Program::Term::Number) {
      ++depth;
    } else if (term.kind == Program::Term::Length) {
      if (term.value < 0 || term.value >= static_cast<int64_t>(number))
        return false;
      ++depth;
    } else if (depth < 2) {
      return false;
    } else {
      --depth;
    }
  }
  return formula.empty() || depth == 1;
}

static bool isWhole(const Program &program) {
  auto isSlot = [&](int slot) {
    return slot >= Program::firstFreeSlot && slot < program.numSlots;
  };
  auto isIn = [](int64_t index, const auto &list) {
    return index >= 0 && index < static_cast<int64_t>(list.size());
  };
  bool good = program.numSlots >= Program::firstFreeSlot &&
              program.numSlots <= mostSlots &&
              (program.stepSlot == 0 || isSlot(program.stepSlot)) &&
              (program.insideSlot == 0 || isSlot(program.insideSlot)) &&
              (program.hostSlot == 0 || isSlot(program.hostSlot));
  for (size_t number = 0; number < program.lengths.size(); ++number) {
    const Program::Length &length = program.lengths[number];
    good = good && isFormula(length.formula, number) && isSlot(length.slot) &&
           isSlot(length.maximumSlot) && length.parentExtent >= 0 &&
           length.parentExtent <= largestExtent &&
           (length.valuesSlot == 0 || isSlot(length.valuesSlot));
  }
  for (const Program::Layout &layout : program.layouts) {
    good &= layout.slot == 0 || isSlot(layout.slot);
    for (int length : layout.lengths)
      good &= isIn(length, program.lengths);
  }
  for (const Program::Order &order : program.orders)
    good = good && isIn(order.length, program.lengths) &&
           isSlot(order.orderSlot) && isSlot(order.activeSlot);
  for (const Program::Array &array : program.arrays) {
    good = good && isSlot(array.slot) && array.count >= 0 &&
           array.count <= largestExtent &&
           (array.layout < 0 || isIn(array.layout, program.layouts)) &&
           isFormula(array.part, program.lengths.size()) &&
           (array.part.empty() || isSlot(array.partSlot)) && array.parts >= 0 &&
           array.parts <= largestExtent && array.onChip >= 0 &&
           array.extra >= 0 && array.extra <= largestExtent;
    for (int64_t extent : array.shape)
      good = good && extent <= largestExtent &&
             (extent >= 0 || isIn(-1 - extent, program.lengths));
  }
  return good;
}

static bool isWhole(const Decoder &decoder, size_t numPrograms) {
  auto isProgram = [&](int number, bool mayMiss) {
    return (mayMiss && number == -1) ||
           (number >= 0 && number < static_cast<int>(numPrograms));
  };
  auto isExtent = [&](int64_t extent) {
    return extent <= largestExtent &&
           -1 - extent < static_cast<int64_t>(decoder.lengths.size());
  };
  auto isShape = [&](const std::vector<int64_t> &shape) {
    return std::all_of(shape.begin(), shape.end(), isExtent);
  };
  auto segments = static_cast<int>(decoder.segments.size());
  auto numChoices = static_cast<int>(decoder.choices.size());
  bool good = isProgram(decoder.encode, /*mayMiss=*/false) &&
              isProgram(decoder.finish, /*mayMiss=*/true) &&
              isExtent(decoder.extent) &&
              segments == decoder.segmentBefore(numChoices) + 1;
  for (const Program &program : decoder.programs)
    good &= isWhole(program);
  for (const Decoder &next : decoder.later)
    good &= next.programs.empty() && next.later.empty() &&
            isWhole(next, numPrograms);
  for (int segment : decoder.segments)
    good &= isProgram(segment, /*mayMiss=*/true);
  for (const Decoder::State &state : decoder.states)
    good &= isShape(state.shape) && state.written >= Decoder::State::replaced &&
            state.written < segments;
  int choices = 0, inner = 0;
  for (const Decoder::Loop &loop : decoder.loops) {
    good = good && loop.firstChoice >= choices &&
           loop.endChoice > loop.firstChoice && loop.endChoice <= numChoices &&
           loop.firstState == inner && loop.endState >= inner &&
           loop.endState <= static_cast<int>(decoder.inner.size()) &&
           isExtent(loop.extent);
    choices = loop.endChoice;
    inner = loop.endState;
  }
  for (const Decoder::State &state : decoder.inner)
    good &= isShape(state.shape);
  for (const Decoder::Choice &choice : decoder.choices) {
    good &= isShape(choice.shape) && (!choice.hasEnd || isExtent(choice.end));
    for (const Decoder::Parameter &parameter : choice.parameters)
      good &= isShape(parameter.shape);
  }
  for (const Decoder::Mark &mark : decoder.marks)
    good &= mark.segment >= 0 && mark.segment < segments;
  for (const Decoder::Stack &stack : decoder.stacks)
    good &= isShape(stack.shape) && stack.axis >= 0 &&
            stack.axis <= static_cast<int64_t>(stack.shape.size());
  return good;
}

/// Returns whether `decoder`, or a search after it, produces this.
static bool gives(const Decoder &decoder, const std::string &name) {
  auto isIt = [&](const Decoder::Output &output) {
    return output.name == name;
  };
  return std::any_of(decoder.outputs.begin(), decoder.outputs.end(), isIt) ||
         std::any_of(decoder.later.begin(), decoder.later.end(),
                     [&](const Decoder &next) { return gives(next, name); });
}

/// Returns whether frames of this kind are possible, with a window that fits
/// into memory.
static bool isWhole(const SoundOptions &sound) {
  auto isTime = [](double seconds) { return seconds > 0 && seconds <= 1; };
  return sound.rate > 0 && sound.rate <= 1'000'000 && sound.filters > 0 &&
         sound.filters <= 1024 && sound.deltas >= 0 && sound.deltas <= 2 &&
         isTime(sound.window) && isTime(sound.shift);
}

/// Returns whether the data are one picture, with a number for each channel.
static bool isWhole(const DataDescription &data) {
  PixelAxes axes(data.spec);
  auto isGood = [&](const std::vector<double> &numbers) {
    return numbers.size() == 1 ||
           static_cast<int64_t>(numbers.size()) == axes.channels;
  };
  return axes.channels > 0 && !axes.isFilm && isGood(data.pixels.mean) &&
         isGood(data.pixels.deviation) &&
         (!data.pixels.resize || (axes.rows > 0 && axes.columns > 0));
}

static bool isWhole(const Description &description) {
  bool good = !description.hasDecoder ||
              isWhole(description.decoder, description.decoder.programs.size());
  for (const ShownEquation &equation : description.shows)
    good = good && description.hasDecoder &&
           gives(description.decoder, equation.name);
  for (const Program &program : description.programs)
    good &= isWhole(program);
  for (const DataDescription &data : description.data) {
    const TextField &text = data.text;
    auto numAxes = static_cast<int64_t>(data.spec.axes.size());
    int64_t outer = std::max<int64_t>(text.numIndices - 1, 0);
    good = good && text.numIndices >= 0 && text.numIndices <= numAxes &&
           static_cast<int64_t>(text.separators.size()) == outer &&
           (!data.isSound || isWhole(data.sound)) &&
           (!data.isPicture || isWhole(data));
    for (const std::string &separator : text.separators)
      good = good && !separator.empty();
  }
  for (const ParameterDescription &parameter : description.parameters) {
    int64_t count = 1;
    for (int64_t extent : parameter.shape) {
      good = good && extent >= 0 && extent <= largestExtent &&
             (extent == 0 || count <= largestExtent / extent);
      count = good ? count * extent : 0;
    }
  }
  return good;
}

//===----------------------------------------------------------------------===//
// Whole descriptions
//===----------------------------------------------------------------------===//

static std::string firstLine(std::string_view body) {
  return fmt::format("fovea {} {:016x}\n", formatVersion, checksum(body));
}

std::string fovea::runtime::writeDescription(const Description &description) {
  json array;
  Writer writer(array);
  fields(writer, const_cast<Description &>(description));
  std::string body = array.dump(-1, ' ', false, json::error_handler_t::replace);
  return firstLine(body) + body;
}

Status fovea::runtime::readDescription(std::string_view bytes,
                                       Description &description) {
  description = {};
  size_t end = bytes.find('\n');
  std::string_view body =
      end == bytes.npos ? std::string_view() : bytes.substr(end + 1);
  std::string version = fmt::format("fovea {} ", formatVersion);
  if (!bytes.starts_with("fovea ") || body.empty())
    return Status::error("not a compiled model");
  if (!bytes.starts_with(version))
    return Status::error(
        "the model and its runtime come from different versions of fovea");
  json array = json::parse(body, nullptr, /*allow_exceptions=*/false);
  bool isGood =
      bytes.substr(0, end + 1) == firstLine(body) && !array.is_discarded();
  if (isGood) {
    Reader reader(array, isGood);
    fields(reader, description);
    reader.finish();
  }
  if (isGood && isWhole(description))
    return Status::success();
  description = {};
  return Status::error("the description of the model is damaged");
}
