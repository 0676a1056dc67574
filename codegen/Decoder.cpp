//===- Decoder.cpp - the programs of a search as kernels ------------------===//
//
// Converts the attribute `attn.decoder` to the description of the runtime's
// search. The programs themselves are compiled like any other.
//
//===----------------------------------------------------------------------===//

#include "codegen/Decoder.h"
#include "passes/batch/SplitDecoder.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Decoder;
using runtime::Program;

namespace {
class Reader {
public:
  Reader(DictionaryAttr description, Type real, Decoder &decoder)
      : description(description), real(real), decoder(decoder) {}

  void read();

private:
  int64_t extent(Attribute extent);
  std::vector<int64_t> shapeOf(DictionaryAttr entry);
  Program::Element elementOf(DictionaryAttr entry) const;
  Decoder::State readState(DictionaryAttr entry);
  Decoder::Choice readChoice(DictionaryAttr entry);

  template <typename Use> void each(StringRef list, Use use) {
    if (auto entries = description.getAs<ArrayAttr>(list))
      for (auto entry : entries.getAsRange<DictionaryAttr>())
        use(entry);
  }

  DictionaryAttr description;
  Type real;
  Decoder &decoder;
};
} // namespace

static std::string textOf(DictionaryAttr entry, StringRef name) {
  auto text = entry.getAs<StringAttr>(name);
  return text ? text.str() : std::string();
}

/// A number, or -1-id of a length.
int64_t Reader::extent(Attribute extent) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return number.getInt();
  std::string name = cast<StringAttr>(extent).str();
  auto &lengths = decoder.lengths;
  auto found = std::find(lengths.begin(), lengths.end(), name);
  if (found == lengths.end())
    found = lengths.insert(lengths.end(), name);
  return -1 - (found - lengths.begin());
}

std::vector<int64_t> Reader::shapeOf(DictionaryAttr entry) {
  auto type = cast<ArrayType>(entry.getAs<TypeAttr>("type").getValue());
  std::vector<int64_t> shape;
  for (Attribute axis : type.getShape())
    shape.push_back(extent(axis));
  return shape;
}

Program::Element Reader::elementOf(DictionaryAttr entry) const {
  auto type = cast<ArrayType>(entry.getAs<TypeAttr>("type").getValue());
  Type element = type.getElementType();
  return element.isInteger(1)    ? Program::Element::Bit
         : element.isInteger(64) ? Program::Element::I64
         : real.isF32()          ? Program::Element::F32
                                 : Program::Element::F64;
}

Decoder::State Reader::readState(DictionaryAttr entry) {
  Decoder::State state;
  state.name = textOf(entry, "name");
  state.initial = textOf(entry, "initial");
  state.next = textOf(entry, "next");
  if (auto written = entry.getAs<IntegerAttr>("written"))
    state.written = written.getInt();
  state.element = elementOf(entry);
  state.shape = shapeOf(entry);
  return state;
}

static Decoder::Distribution distributionOf(StringRef name) {
  return llvm::StringSwitch<Decoder::Distribution>(name)
      .Case("bernoulli", Decoder::Distribution::Bernoulli)
      .Case("normal", Decoder::Distribution::Normal)
      .Case("uniform", Decoder::Distribution::Uniform)
      .Case("mixture", Decoder::Distribution::Mixture)
      .Default(Decoder::Distribution::Categorical);
}

Decoder::Choice Reader::readChoice(DictionaryAttr entry) {
  Decoder::Choice choice;
  choice.name = textOf(entry, "name");
  choice.distribution = distributionOf(textOf(entry, "distribution"));
  for (auto parameter :
       entry.getAs<ArrayAttr>("parameters").getAsRange<DictionaryAttr>())
    choice.parameters.push_back({textOf(parameter, "name"),
                                 textOf(parameter, "value"),
                                 shapeOf(parameter)});
  choice.shape = shapeOf(entry);
  choice.element = elementOf(entry);
  if (Attribute end = entry.get("end")) {
    choice.hasEnd = true;
    choice.end = extent(end);
  }
  return choice;
}

void Reader::read() {
  each("states", [&](DictionaryAttr entry) {
    decoder.states.push_back(readState(entry));
  });
  each("loops", [&](DictionaryAttr entry) {
    auto numberOf = [&](StringRef name) {
      return static_cast<int>(entry.getAs<IntegerAttr>(name).getInt());
    };
    Decoder::Loop &loop = decoder.loops.emplace_back();
    loop.firstChoice = numberOf("first");
    loop.endChoice = numberOf("end");
    loop.extent = extent(entry.get("extent"));
    loop.reverse = entry.contains("reverse");
    loop.firstState = decoder.inner.size();
    for (auto state :
         entry.getAs<ArrayAttr>("states").getAsRange<DictionaryAttr>())
      decoder.inner.push_back(readState(state));
    loop.endState = decoder.inner.size();
  });
  each("choices", [&](DictionaryAttr entry) {
    decoder.choices.push_back(readChoice(entry));
  });
  each("marks", [&](DictionaryAttr entry) {
    Decoder::Mark mark;
    mark.kind = llvm::StringSwitch<Decoder::Mark::Kind>(textOf(entry, "kind"))
                    .Case("stop", Decoder::Mark::Stop)
                    .Case("score", Decoder::Mark::Score)
                    .Default(Decoder::Mark::Valid);
    mark.segment = entry.getAs<IntegerAttr>("segment").getInt();
    mark.value = textOf(entry, "value");
    decoder.marks.push_back(mark);
  });
  each("stacks", [&](DictionaryAttr entry) {
    decoder.stacks.push_back({textOf(entry, "value"),
                              entry.getAs<IntegerAttr>("axis").getInt(),
                              elementOf(entry), shapeOf(entry)});
  });
  each("outputs", [&](DictionaryAttr entry) {
    decoder.outputs.push_back({textOf(entry, "name"), textOf(entry, "value")});
  });
  decoder.isSearch = description.contains("extent");
  if (decoder.isSearch)
    decoder.extent = extent(description.get("extent"));
  decoder.known = description.contains("known");
  decoder.reverse = description.contains("reverse");
  decoder.longest = textOf(description, "longest");
}

/// One search of a decoder; its programs join `programs`.
static LogicalResult emitSearch(DictionaryAttr description, ModuleOp source,
                                Type real, EmitProgram emitProgram,
                                Decoder &decoder,
                                std::vector<Program> &programs) {
  Reader(description, real, decoder).read();
  auto emit = [&](StringRef name) -> FailureOr<int> {
    auto program =
        name.empty() ? ProgramOp() : source.lookupSymbol<ProgramOp>(name);
    if (!program)
      return -1;
    if (failed(emitProgram(program, programs.emplace_back())))
      return failure();
    return programs.size() - 1;
  };
  FailureOr<int> encode = emit(textOf(description, "encode"));
  if (failed(encode))
    return failure();
  decoder.encode = *encode;
  for (auto name :
       description.getAs<ArrayAttr>("segments").getAsRange<StringAttr>()) {
    FailureOr<int> segment = emit(name.getValue());
    if (failed(segment))
      return failure();
    decoder.segments.push_back(*segment);
  }
  FailureOr<int> finish = emit(textOf(description, "finish"));
  if (failed(finish))
    return failure();
  decoder.finish = *finish;
  return success();
}

LogicalResult fovea::codegen::emitDecoder(ModuleOp source, Type real,
                                          EmitProgram emit, Decoder &decoder) {
  auto description = source->getAttrOfType<DictionaryAttr>(decoderName);
  assert(description && "the phase 'batch' has split a decoder");
  if (auto model = source->getAttrOfType<StringAttr>("attn.model"))
    decoder.model = model.str();
  if (failed(emitSearch(description, source, real, emit, decoder,
                        decoder.programs)))
    return failure();
  if (auto later = description.getAs<ArrayAttr>("later"))
    for (auto next : later.getAsRange<DictionaryAttr>()) {
      Decoder &search = decoder.later.emplace_back();
      search.model = decoder.model;
      if (failed(
              emitSearch(next, source, real, emit, search, decoder.programs)))
        return failure();
    }
  return success();
}
