//===- Text.cpp - symbols as people write them ----------------------------===//

#include "runtime/data/Text.h"
#include "runtime/data/SentencePieces.h"
#include "runtime/data/Tokeniser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace fovea::runtime;

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Returns the length of the character that begins with `first`.
static size_t charBytes(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/// Returns whether a valid UTF-8 character (RFC 3629) starts here: not
/// overlong, not a surrogate, not beyond U+10FFFF.
static bool isChar(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = at(0);
  if (first < 0x80)
    return true;
  size_t count = charBytes(first);
  if (first < 0xC2 || first > 0xF4 || text.size() < count)
    return false;
  for (size_t i = 1; i < count; ++i)
    if (at(i) < 0x80 || at(i) > 0xBF)
      return false;
  return !(first == 0xE0 && at(1) < 0xA0) && !(first == 0xED && at(1) > 0x9F) &&
         !(first == 0xF0 && at(1) < 0x90) && !(first == 0xF4 && at(1) > 0x8F);
}

size_t fovea::runtime::validUtf8(std::string_view text) {
  size_t place = 0;
  while (place < text.size() && isChar(text.substr(place)))
    place += charBytes(static_cast<unsigned char>(text[place]));
  return place;
}

void fovea::runtime::forSymbols(
    std::string_view line, bool isChars,
    const std::function<void(std::string_view)> &take) {
  while (isChars && !line.empty()) {
    size_t count =
        std::min(charBytes(static_cast<unsigned char>(line[0])), line.size());
    take(line.substr(0, count));
    line.remove_prefix(count);
  }
  constexpr std::string_view spaces = " \t";
  for (size_t begin = 0;
       (begin = line.find_first_not_of(spaces, begin)) != line.npos;) {
    size_t end = std::min(line.find_first_of(spaces, begin), line.size());
    take(line.substr(begin, end - begin));
    begin = end;
  }
}

//===----------------------------------------------------------------------===//
// Vocabularies
//===----------------------------------------------------------------------===//

static constexpr std::string_view keyPrefix = "vocabulary.";

void Vocabulary::add(std::string_view symbol) {
  ids.try_emplace(std::string(symbol), byId.size());
  byId.emplace_back(symbol);
}

Status Vocabulary::setSentencePieces(std::string_view bytes) {
  *this = {};
  std::shared_ptr<const SentencePieces> read;
  Status status = SentencePieces::read(bytes, read);
  if (status.failed())
    return status;
  kind = "sentencepiece";
  model = writeBase64(bytes);
  for (const std::string &symbol : read->symbols())
    add(symbol);
  pieces = std::move(read);
  return status;
}

Status Vocabulary::setTokeniser(std::string_view text, bool hasSentences) {
  *this = {};
  std::shared_ptr<const Tokeniser> read;
  Status status = Tokeniser::read(text, hasSentences, read);
  if (status.succeeded())
    status = Tokeniser::shorten(text, model);
  if (status.failed())
    return status;
  kind = hasSentences ? "tokeniser of sentences" : "tokeniser";
  for (const std::string &symbol : read->symbols())
    add(symbol);
  pieces = std::move(read);
  return status;
}

bool Vocabularies::isKey(std::string_view key) {
  return key.starts_with(keyPrefix);
}

std::string Vocabularies::nameIn(std::string_view key) {
  return std::string(key.substr(keyPrefix.size()));
}

Status Vocabularies::take(std::string_view key, const std::string &text,
                          const std::string &name) {
  Vocabulary &vocabulary = byName[name];
  vocabulary = {};
  std::string_view symbols = text;
  size_t begin = std::min(symbols.find('\n'), symbols.size());
  std::string_view kind = symbols.substr(0, begin);
  vocabulary.isChars = kind == "chars";
  bool hasModel = kind == "sentencepiece";
  if (kind == "tokeniser" || kind == "tokeniser of sentences") {
    // The file has the symbols.
    Status status = vocabulary.setTokeniser(
        symbols.substr(std::min(begin + 1, symbols.size())),
        kind != "tokeniser");
    return status.succeeded()
               ? status
               : Status::error("the tokeniser of the vocabulary '" +
                               nameIn(key) + "': " + status.text());
  }
  if ((!vocabulary.isChars && !hasModel && kind != "words") ||
      begin == symbols.size())
    return Status::error("the vocabulary '" + nameIn(key) +
                         "' has an unknown kind; expected words, chars, "
                         "sentencepiece or tokeniser");
  Vocabulary cutting;
  if (hasModel) {
    size_t end = std::min(symbols.find('\n', begin + 1), symbols.size());
    std::string bytes;
    Status status =
        readBase64(symbols.substr(begin + 1, end - begin - 1), bytes)
            ? cutting.setSentencePieces(bytes)
            : Status::error("it is damaged");
    if (status.failed())
      return Status::error("the vocabulary '" + nameIn(key) +
                           "' is not a SentencePiece model: " + status.text());
    begin = std::min(end, symbols.size() - 1);
  }
  for (++begin; begin < symbols.size();) {
    size_t end = std::min(symbols.find('\n', begin), symbols.size());
    vocabulary.add(symbols.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!hasModel)
    return Status::success();
  if (cutting.byId != vocabulary.byId)
    return Status::error("the symbols of the vocabulary '" + nameIn(key) +
                         "' differ from those of its SentencePiece model");
  vocabulary = std::move(cutting);
  return Status::success();
}

void Vocabularies::store(std::map<std::string, std::string> &metadata) const {
  for (const auto &[name, vocabulary] : byName) {
    std::string &text = metadata[std::string(keyPrefix) + name];
    text = vocabulary.isChars ? "chars\n" : "words\n";
    if (vocabulary.pieces)
      text = vocabulary.kind + "\n" + vocabulary.model + "\n";
    if (vocabulary.kind.starts_with("tokeniser"))
      continue;
    for (const std::string &symbol : vocabulary.byId)
      text += symbol + "\n";
  }
}

std::string Vocabularies::differenceTo(const Vocabularies &other) const {
  for (const auto &[name, own] : byName) {
    auto found = other.byName.find(name);
    if (found == other.byName.end() || found->second.byId == own.byId)
      continue;
    const std::vector<std::string> &a = own.byId, &b = found->second.byId;
    size_t id =
        std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    auto symbol = [&](const std::vector<std::string> &symbols) {
      return id < symbols.size() ? "'" + symbols[id] + "'" : "nothing";
    };
    return fmt::format("the vocabulary '{}' has {} and {} symbols; the first "
                       "difference is at {}: {} and {}",
                       name, a.size(), b.size(), id, symbol(a), symbol(b));
  }
  return "";
}

const Vocabulary *Vocabularies::find(const TextField &field) const {
  for (const std::string *name : {&field.name, &field.vocabulary})
    if (auto found = byName.find(*name); found != byName.end())
      return &found->second;
  return nullptr;
}

bool Vocabularies::isChars(const TextField &field) const {
  const Vocabulary *vocabulary = find(field);
  return vocabulary && vocabulary->isChars;
}

const Segmenter *Vocabularies::piecesOf(const TextField &field) const {
  const Vocabulary *vocabulary = find(field);
  return vocabulary ? vocabulary->pieces.get() : nullptr;
}

/// The number that a whole word represents, or nothing.
template <typename T> static std::optional<T> numberIn(std::string_view word) {
  T value{};
  auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return value;
}

std::optional<int64_t> Vocabularies::idOf(const TextField &field,
                                          std::string_view word) const {
  auto label = std::find(field.labels.begin(), field.labels.end(), word);
  if (label != field.labels.end())
    return label - field.labels.begin();
  if (const Vocabulary *vocabulary = find(field)) {
    auto found = vocabulary->ids.find(std::string(word));
    return found == vocabulary->ids.end() ? Symbol::unknown : found->second;
  }
  return numberIn<int64_t>(word);
}

std::string Vocabularies::wordOf(const TextField &field, int64_t id) const {
  auto within = [&](const std::vector<std::string> &words) {
    return id >= 0 && id < static_cast<int64_t>(words.size());
  };
  if (within(field.labels))
    return field.labels[id];
  if (const Vocabulary *found = find(field); found && within(found->byId))
    return found->byId[id];
  return std::to_string(id);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

namespace {

/// Reads the values of one line.
class LineReader {
public:
  LineReader(const TextField &field, const DataSpec &spec,
             const Vocabularies &vocabularies, const Report &report)
      : field(field), spec(spec), vocabularies(vocabularies), report(report) {
    for (size_t axis = field.numIndices; axis < spec.axes.size(); ++axis)
      width *= spec.axes[axis].size;
  }

  bool read(std::string_view line, DataValues &result, Lengths &lengths);

private:
  /// An innermost list: its place, and its values.
  struct List {
    std::vector<int64_t> at;
    std::string_view text;
    std::vector<double> values;
  };

  bool explain(std::string_view place, const std::string &text) {
    report(place, text);
    return false;
  }
  bool readList(List &list);
  bool readPlace(std::string_view word, std::vector<double> &values);
  bool readWord(std::string_view word, std::vector<double> &values);
  bool addId(std::string_view place, int64_t id, std::vector<double> &values);
  bool measure(std::string_view line, size_t axis, Lengths &lengths);
  void place(DataValues &result) const;

  const TextField &field;
  const DataSpec &spec;
  const Vocabularies &vocabularies;
  const Report &report;
  std::vector<List> lists;
  std::vector<int64_t> extents; // of the axes with places
  int64_t width = 1;            // numbers of one place
};

} // namespace

void fovea::runtime::forLists(
    std::string_view line, const std::vector<std::string> &separators,
    const std::function<void(std::string_view, const std::vector<int64_t> &)>
        &take) {
  using Part = std::pair<std::string_view, std::vector<int64_t>>;
  std::vector<Part> parts = {{line, {}}};
  for (const std::string &separator : separators) {
    std::vector<Part> inner;
    for (const auto &[text, at] : parts) {
      std::vector<int64_t> own = at;
      own.push_back(0);
      for (size_t begin = 0; begin <= text.size(); ++own.back()) {
        size_t end = std::min(text.find(separator, begin), text.size());
        std::string_view list = text.substr(begin, end - begin);
        // Spaces beside a separator belong to it.
        while (!list.empty() && list.front() == ' ')
          list.remove_prefix(1);
        while (!list.empty() && list.back() == ' ')
          list.remove_suffix(1);
        inner.push_back({list, own});
        begin = end + separator.size();
      }
    }
    parts = std::move(inner);
  }
  for (const auto &[text, at] : parts)
    take(text, at);
}

std::vector<Segmenter::Piece>
fovea::runtime::piecesOf(std::string_view list, const TextField &field,
                         const Segmenter &segmenter) {
  std::vector<Segmenter::Piece> pieces = segmenter.cut(list);
  if (field.isSentence)
    return pieces;
  pieces.insert(pieces.begin(), segmenter.before().begin(),
                segmenter.before().end());
  pieces.insert(pieces.end(), segmenter.after().begin(),
                segmenter.after().end());
  return pieces;
}

/// Reads one innermost list.
bool LineReader::readList(List &list) {
  bool good = true;
  if (const Segmenter *segmenter = vocabularies.piecesOf(field))
    for (const Segmenter::Piece &piece : piecesOf(list.text, field, *segmenter))
      good &= addId(list.text, piece.id, list.values);
  else
    forSymbols(list.text, vocabularies.isChars(field),
               [&](std::string_view word) {
                 good &= width == 1 ? readWord(word, list.values)
                                    : readPlace(word, list.values);
               });
  if (field.isSentence)
    list.values.push_back(Symbol::end);
  return good;
}

/// The numbers of one place, `0.5,1.5`; data without places also accept spaces.
bool LineReader::readPlace(std::string_view word, std::vector<double> &values) {
  size_t before = values.size();
  for (size_t begin = 0; begin <= word.size();) {
    size_t end = std::min(word.find(',', begin), word.size());
    if (!readWord(word.substr(begin, end - begin), values))
      return false;
    begin = end + 1;
  }
  auto count = static_cast<int64_t>(values.size() - before);
  if (field.numIndices == 0 || count == width)
    return true;
  return explain(
      word,
      fmt::format(
          "'{}' has {} comma-separated numbers per place, but this one has {}",
          field.name, width, count));
}

/// Determines the extent of an axis over all lists.
bool LineReader::measure(std::string_view line, size_t axis, Lengths &lengths) {
  const DataAxis &what = spec.axes[axis];
  bool isInner = axis + 1 == extents.size();
  // For each list along the axis: its outer places, and its number of entries.
  std::map<std::vector<int64_t>, std::pair<int64_t, std::string_view>> counts;
  for (const List &list : lists) {
    std::vector<int64_t> outer(list.at.begin(),
                               list.at.begin() + static_cast<ptrdiff_t>(axis));
    auto &[count, text] = counts[outer];
    text = list.text;
    count = std::max(count, isInner ? int64_t(list.values.size()) / width
                                    : list.at[axis] + 1);
  }
  int64_t &extent = extents[axis];
  std::vector<int64_t> all;
  for (const auto &[outer, given] : counts) {
    all.push_back(given.first);
    extent = std::max(extent, given.first);
  }
  if (!what.parent.empty()) {
    lengths[what.length] = LengthValues::perParent(std::move(all));
    return true;
  }
  int64_t wanted = what.length.empty() ? what.size : extent;
  for (const auto &[outer, given] : counts)
    if (given.first != wanted)
      return explain(
          axis == 0 ? line : given.second,
          what.length.empty()
              ? fmt::format("'{}' has {} values per {} but this line has {}",
                            field.name, wanted,
                            extents.size() == 1 ? "example" : "list",
                            given.first)
              : fmt::format("the lists of '{}' have one length {}, but this "
                            "one has {} values and another {}",
                            field.name, what.length, given.first, wanted));
  if (extent == 0)
    return explain(line, "'" + field.name + "' has no value here");
  if (!what.length.empty())
    lengths[what.length] = LengthValues::of(extent);
  return true;
}

/// Copies every list to its place; pads shorter ones with zeros.
void LineReader::place(DataValues &result) const {
  result.shape = extents;
  int64_t size = width;
  for (int64_t extent : extents)
    size *= extent;
  for (size_t axis = extents.size(); axis < spec.axes.size(); ++axis)
    result.shape.push_back(spec.axes[axis].size);
  result.values.assign(size, 0);
  for (const List &list : lists) {
    int64_t row = 0;
    for (size_t axis = 0; axis < list.at.size(); ++axis)
      row = row * extents[axis] + list.at[axis];
    int64_t length = extents.empty() ? size : extents.back() * width;
    std::copy(list.values.begin(), list.values.end(),
              result.values.begin() + row * length);
  }
}

bool LineReader::read(std::string_view line, DataValues &result,
                      Lengths &lengths) {
  forLists(line, field.separators,
           [&](std::string_view text, const std::vector<int64_t> &at) {
             lists.push_back({at, text, {}});
           });
  bool good = true;
  for (List &list : lists)
    good &= readList(list);
  if (!good)
    return false;
  if (field.numIndices == 0) {
    auto count = static_cast<int64_t>(lists[0].values.size());
    if (count != width)
      return explain(line, fmt::format("'{}' has {} values per example but "
                                       "this line has {}",
                                       field.name, width, count));
  }
  extents.assign(field.numIndices, 0);
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (!measure(line, axis, lengths))
      return false;
  place(result);
  return true;
}

bool LineReader::readWord(std::string_view word, std::vector<double> &values) {
  if (spec.kind == DataKind::Real) {
    // The library does not accept a leading plus.
    bool hasPlus = word.size() > 1 && word[0] == '+' && word[1] != '-';
    std::optional<double> value = numberIn<double>(word.substr(hasPlus));
    if (!value || !std::isfinite(*value))
      return explain(word, fmt::format("'{}' is not a number", word));
    values.push_back(*value);
    return true;
  }
  std::optional<int64_t> id = vocabularies.idOf(field, word);
  bool isLabel = id && *id >= 0 && (field.size < 0 || *id < field.size);
  if (!isLabel && !field.labels.empty())
    return explain(word,
                   fmt::format("'{}' is not a class of '{}': {}", word,
                               field.name, fmt::join(field.labels, ", ")));
  if (!id)
    return explain(word, fmt::format("'{}' is not an id{}", word, field.hint));
  return addId(word, *id, values);
}

bool LineReader::addId(std::string_view place, int64_t id,
                       std::vector<double> &values) {
  int64_t limit = spec.kind == DataKind::Bit ? 2 : field.size;
  if (limit >= 0 && (id < 0 || id >= limit))
    return explain(place, fmt::format("'{}' takes 0 to {}, not {}", field.name,
                                      limit - 1, id));
  values.push_back(static_cast<double>(id));
  return true;
}

bool fovea::runtime::readLine(std::string_view line, const TextField &field,
                              const DataSpec &spec,
                              const Vocabularies &vocabularies,
                              DataValues &result, Lengths &lengths,
                              const Report &report) {
  return LineReader(field, spec, vocabularies, report)
      .read(line, result, lengths);
}

//===----------------------------------------------------------------------===//
// Prefixes
//===----------------------------------------------------------------------===//

/// Adds one symbol; returns false for an invalid one (reported).
static bool readPrefixSymbol(std::string_view place, std::string_view word,
                             std::optional<int64_t> id, bool isKnown,
                             const TextField &field,
                             std::vector<double> &values,
                             const Report &report) {
  std::string mistake;
  if (field.isSentence && !values.empty() &&
      values.back() == double(Symbol::end))
    mistake = "nothing can follow '</s>'";
  else if (!isKnown)
    mistake =
        fmt::format("'{}' is not in the vocabulary of '{}'", word, field.name);
  else if (!id)
    mistake = fmt::format("'{}' is not an id{}", word, field.hint);
  else if (*id < 0 || (field.size >= 0 && *id >= field.size))
    mistake = fmt::format("'{}' takes 0 to {}, not {}", field.name,
                          field.size - 1, *id);
  if (!mistake.empty()) {
    report(place, mistake);
    return false;
  }
  values.push_back(static_cast<double>(*id));
  return true;
}

bool fovea::runtime::readPrefix(std::string_view line, const TextField &field,
                                const Vocabularies &vocabularies,
                                std::vector<double> &values,
                                const Report &report) {
  const Segmenter *pieces = vocabularies.piecesOf(field);
  const Vocabulary *vocabulary = vocabularies.find(field);
  bool good = true;
  // For nested values: the lists in order.
  forLists(line, field.separators, [&](std::string_view list, const auto &) {
    if (pieces)
      for (const Segmenter::Piece &piece : pieces->cut(list))
        good =
            good && readPrefixSymbol(list, piece.text, piece.id,
                                     !piece.isUnknown, field, values, report);
    else
      forSymbols(list, vocabularies.isChars(field), [&](std::string_view word) {
        bool isKnown =
            !vocabulary || vocabulary->ids.contains(std::string(word));
        good =
            good && readPrefixSymbol(word, word, vocabularies.idOf(field, word),
                                     isKnown, field, values, report);
      });
  });
  return good;
}

std::string fovea::runtime::textOf(const TextField &field,
                                   const DataValues &values, bool hasEnd,
                                   const Vocabularies &vocabularies,
                                   const Replacement &replacement) {
  size_t count = values.values.size();
  if (count > 0 &&
      (field.isSentence ? values.values.back() == double(Symbol::end)
                        : hasEnd && field.ends))
    --count;
  // The values of one place are adjacent: `0.5,1.5 0.25,2`.
  int64_t width = 1;
  for (size_t axis = 1; axis < values.shape.size(); ++axis)
    width *= values.shape[axis];
  bool isChars = vocabularies.isChars(field);
  const Segmenter *pieces = vocabularies.piecesOf(field);
  std::vector<std::string> cut;
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && !isChars && !pieces)
      text += width > 1 && i % width != 0 ? ',' : ' ';
    double value = values.values[i];
    std::string word =
        field.isSymbols
            ? vocabularies.wordOf(field, static_cast<int64_t>(value))
            : fmt::format("{}", value);
    if (replacement && field.isSymbols && value == double(Symbol::unknown) &&
        word == "<unk>")
      word = replacement(i).value_or(word);
    if (pieces)
      cut.push_back(std::move(word));
    else
      text += word;
  }
  return pieces ? pieces->join(cut) : text;
}
