//===- TextData.cpp - symbols as people write them ------------------------===//

#include "tools/fovea/TextData.h"
#include "tools/fovea/Inputs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <zlib.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringLiteral;
using llvm::StringRef;

/// A longer line is a mistake rather than an example.
static constexpr size_t longestLine = 1 << 20;

//===----------------------------------------------------------------------===//
// Files and lines
//===----------------------------------------------------------------------===//

/// Unpacks a .gz file. Empty, and reported, when it cannot.
static std::optional<std::string> unpack(Session &session,
                                         const std::string &path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) {
    session.error("cannot read '" + path + "': " + std::strerror(errno));
    return std::nullopt;
  }
  std::string text;
  char buffer[1 << 16];
  int count = 0;
  while ((count = gzread(file, buffer, sizeof(buffer))) > 0)
    text.append(buffer, count);
  int code = Z_OK;
  std::string problem = gzerror(file, &code);
  // What ends early is no error of gzread, but one of gzclose.
  int closed = gzclose(file);
  if (count == 0 && code == Z_OK && closed == Z_OK)
    return text;
  session.error("cannot unpack '" + path + "'" +
                (code == Z_OK || problem.empty() ? "" : ": " + problem));
  return std::nullopt;
}

/// Reads a file into the session's sources, so that errors can show its lines.
static std::optional<StringRef> readFile(Session &session,
                                         const std::string &path) {
  if (StringRef(path).ends_with(".gz")) {
    std::optional<std::string> text = unpack(session, path);
    if (!text)
      return std::nullopt;
    return session.diagnostics().addSource(path, std::move(*text));
  }
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    session.error("cannot read '" + path + "': " + buffer.getError().message());
    return std::nullopt;
  }
  return session.diagnostics().addSource(path, (*buffer)->getBuffer().str());
}

/// The lines of a text; what ends with a newline has no empty last line.
static llvm::SmallVector<StringRef> linesOf(StringRef text) {
  llvm::SmallVector<StringRef> lines;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    line.consume_back("\r");
    lines.push_back(line);
    text = rest;
  }
  return lines;
}

TextSource fovea::cli::sourceOf(const std::string &given) {
  auto [file, column] = StringRef(given).rsplit(':');
  unsigned number = 0;
  if (column.empty() || column.getAsInteger(10, number) || number == 0)
    return {given, 0};
  return {file.str(), number};
}

namespace {
/// The column of each line of a file.
class ColumnReader {
public:
  ColumnReader(Session &session, const TextSource &source)
      : session(session), source(source) {}

  /// Calls `take(text)` for each line; false when any is wrong (reported).
  bool run(llvm::function_ref<bool(StringRef)> take);

private:
  bool explain(StringRef place, const std::string &text) {
    session.diagnostics().error(llvm::SMLoc::getFromPointer(place.data()),
                                text);
    return false;
  }
  bool readLine(StringRef line, llvm::function_ref<bool(StringRef)> take);

  Session &session;
  const TextSource &source;
};
} // namespace

bool ColumnReader::readLine(StringRef line,
                            llvm::function_ref<bool(StringRef)> take) {
  if (line.size() > longestLine) {
    session.error(fmt::format("'{}': a line has {} bytes, but an example has "
                              "at most {}",
                              source.path, line.size(), longestLine));
    return false;
  }
  const auto *from = reinterpret_cast<const llvm::UTF8 *>(line.begin());
  if (!llvm::isLegalUTF8String(
          &from, reinterpret_cast<const llvm::UTF8 *>(line.end())))
    return explain(
        line.substr(reinterpret_cast<const char *>(from) - line.begin()),
        "this is not UTF-8");
  if (source.column == 0)
    return take(line);
  llvm::SmallVector<StringRef> fields;
  line.split(fields, '\t');
  if (fields.size() < source.column)
    return explain(line, fmt::format("column {} is wanted but this line has {}",
                                     source.column, fields.size()));
  return take(fields[source.column - 1]);
}

bool ColumnReader::run(llvm::function_ref<bool(StringRef)> take) {
  std::optional<StringRef> contents = readFile(session, source.path);
  if (!contents)
    return false;
  if (contents->empty()) {
    session.error("'" + source.path + "' is empty");
    return false;
  }
  bool good = true;
  for (StringRef line : linesOf(*contents))
    good &= readLine(line, take);
  return good;
}

/// Calls `take` for each symbol of a line.
static void forSymbols(StringRef line, bool isChars,
                       llvm::function_ref<void(StringRef)> take) {
  while (isChars && !line.empty()) {
    size_t count = llvm::getNumBytesForUTF8(line.front());
    take(line.take_front(count));
    line = line.drop_front(std::min(count, line.size()));
  }
  while (!(line = line.ltrim(" \t")).empty()) {
    StringRef word =
        line.take_until([](char c) { return c == ' ' || c == '\t'; });
    line = line.drop_front(word.size());
    take(word);
  }
}

//===----------------------------------------------------------------------===//
// Vocabularies
//===----------------------------------------------------------------------===//

void Vocabularies::Words::add(StringRef word) {
  ids.try_emplace(word, byId.size());
  byId.push_back(word.str());
}

bool Vocabularies::read(Session &session, const Arguments &arguments,
                        const Model &model) {
  bool good = true;
  for (const std::string &text : arguments.vocabularies) {
    std::string name, path;
    if (!splitPair(text, name, path)) {
      session.error("'--vocab' takes NAME=FILE, not '" + text + "'");
      good = false;
      continue;
    }
    auto known = llvm::find_if(model.data, [&](const DataInfo &data) {
      return data.name == name || data.vocabulary == name;
    });
    if (known == model.data.end()) {
      session.error("no vocabulary and no data is called '" + name + "'");
      good = false;
      continue;
    }
    Words &words = byName[name];
    words = {};
    words.vocabulary = known->vocabulary;
    words.isChars = known->vocabularyKind == "chars";
    good &= ColumnReader(session, {path, 0}).run([&](StringRef line) {
      words.add(line);
      return true;
    });
  }
  return good;
}

static constexpr StringLiteral storedPrefix = "vocabulary.";

bool Vocabularies::load(Session &session, const Arguments &arguments,
                        const runtime::TensorFile &weights,
                        const std::string &path,
                        llvm::function_ref<std::string(StringRef)> rename) {
  for (const auto &[key, text] : weights.metadata) {
    StringRef stored = key, symbols = text;
    if (!stored.consume_front(storedPrefix))
      continue;
    std::string name = rename(stored);
    if (llvm::any_of(arguments.sets, [&](const auto &set) {
          return set.first == name + ".vocab";
        }))
      continue;
    Words &words = byName[name];
    words = {};
    words.vocabulary = name;
    words.isStored = true;
    words.isChars = symbols.consume_front("chars\n");
    if (!words.isChars && !symbols.consume_front("words\n")) {
      session.error(path + ": the vocabulary '" + stored.str() +
                    "' is neither of words nor of chars");
      return false;
    }
    while (!symbols.empty()) {
      auto [symbol, rest] = symbols.split('\n');
      words.add(symbol);
      symbols = rest;
    }
  }
  return true;
}

void Vocabularies::store(std::map<std::string, std::string> &metadata) const {
  for (const auto &[name, words] : byName) {
    std::string &text = metadata[storedPrefix.str() + name];
    text = words.isChars ? "chars\n" : "words\n";
    for (const std::string &word : words.byId)
      text += word + "\n";
  }
}

bool Vocabularies::build(Session &session, const Model &model,
                         const std::map<std::string, TextSource> &texts) {
  std::map<std::string, llvm::StringMap<int64_t>> counts;
  std::map<std::string, const DataInfo *> users;
  bool good = true;
  for (const DataInfo &data : model.data) {
    auto text = texts.find(data.name);
    if (data.kind != DataInfo::Token || data.vocabularyKind == "ids" ||
        text == texts.end() || find(data))
      continue;
    if (data.vocabularyKind == "sentencepiece") {
      session.error("the vocabulary '" + data.vocabulary +
                    "' is of sentencepiece, which cannot be read yet");
      good = false;
      continue;
    }
    users[data.vocabulary] = &data;
    llvm::StringMap<int64_t> &own = counts[data.vocabulary];
    good &= ColumnReader(session, text->second).run([&](StringRef line) {
      forSymbols(line, data.vocabularyKind == "chars",
                 [&](StringRef symbol) { ++own[symbol]; });
      return true;
    });
  }
  for (auto &[name, own] : counts) {
    Words &words = byName[name];
    words.vocabulary = name;
    words.isStored = true;
    words.isChars = users[name]->vocabularyKind == "chars";
    for (StringRef symbol : {"<s>", "</s>", "<unk>"}) {
      words.add(symbol);
      own.erase(symbol);
    }
    std::vector<std::pair<int64_t, StringRef>> order;
    for (const auto &entry : own)
      order.push_back({-entry.second, entry.first()});
    llvm::sort(order);
    int64_t limit = users[name]->vocabularyLimit;
    for (const auto &[count, symbol] : order)
      if (limit == 0 || static_cast<int64_t>(words.byId.size()) < limit)
        words.add(symbol);
  }
  return good;
}

std::vector<std::pair<std::string, std::string>>
Vocabularies::sizes(bool ofAll) const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto &[name, words] : byName)
    if (words.isStored || ofAll)
      result.push_back(
          {words.vocabulary + ".vocab", std::to_string(words.byId.size())});
  return result;
}

bool Vocabularies::isChars(const DataInfo &data) const {
  const Words *words = find(data);
  return words && words->isChars;
}

const Vocabularies::Words *Vocabularies::find(const DataInfo &data) const {
  for (const std::string &name : {data.name, data.vocabulary})
    if (auto found = byName.find(name); found != byName.end())
      return &found->second;
  return nullptr;
}

std::optional<int64_t> Vocabularies::idOf(const DataInfo &data,
                                          StringRef word) const {
  for (const auto &[id, label] : llvm::enumerate(data.labels))
    if (label == word)
      return static_cast<int64_t>(id);
  if (const Words *words = find(data)) {
    auto found = words->ids.find(word);
    return found == words->ids.end() ? Symbol::unknown : found->second;
  }
  int64_t id = 0;
  if (word.getAsInteger(10, id))
    return std::nullopt;
  return id;
}

std::string Vocabularies::wordOf(const DataInfo &data, int64_t id) const {
  auto within = [&](const std::vector<std::string> &words) {
    return id >= 0 && id < static_cast<int64_t>(words.size());
  };
  if (within(data.labels))
    return data.labels[id];
  if (const Words *words = find(data); words && within(words->byId))
    return words->byId[id];
  return std::to_string(id);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads the values of one line.
class LineReader {
public:
  LineReader(Session &session, const DataInfo &data,
             const runtime::DataSpec &spec, const Vocabularies &vocabularies)
      : session(session), data(data), spec(spec), vocabularies(vocabularies) {}

  bool read(StringRef line, runtime::DataValues &result) {
    bool good = true;
    forSymbols(line, vocabularies.isChars(data),
               [&](StringRef word) { good &= readWord(word, result.values); });
    if (data.isSentence)
      result.values.push_back(Symbol::end);
    return good && shape(line, result);
  }

private:
  bool explain(StringRef place, const std::string &text) {
    session.diagnostics().error(llvm::SMLoc::getFromPointer(place.data()),
                                text);
    return false;
  }

  bool readWord(StringRef word, std::vector<double> &values) {
    if (spec.kind == runtime::DataKind::Real) {
      double value = 0;
      if (word.getAsDouble(value) || !std::isfinite(value))
        return explain(word, quoted(word) + " is no number");
      values.push_back(value);
      return true;
    }
    std::optional<int64_t> id = vocabularies.idOf(data, word);
    if (!id)
      return explain(word, quoted(word) + " is no id; words need '--vocab " +
                               data.name + "=FILE'");
    int64_t limit =
        spec.kind == runtime::DataKind::Bit ? 2 : data.vocabularySize;
    if (limit >= 0 && (*id < 0 || *id >= limit))
      return explain(word, fmt::format("'{}' takes 0 to {}, not {}", data.name,
                                       limit - 1, *id));
    values.push_back(static_cast<double>(*id));
    return true;
  }

  bool shape(StringRef line, runtime::DataValues &result) {
    int64_t count = result.values.size();
    if (spec.axes.empty() || spec.axes[0].length.empty()) {
      int64_t wanted = spec.axes.empty() ? 1 : spec.axes[0].size;
      if (count != wanted)
        return explain(line, fmt::format("'{}' has {} values per example but "
                                         "this line has {}",
                                         data.name, wanted, count));
    } else if (count == 0) {
      return explain(line, "'" + data.name + "' has no value here");
    }
    if (!spec.axes.empty())
      result.shape.push_back(count);
    return true;
  }

  Session &session;
  const DataInfo &data;
  const runtime::DataSpec &spec;
  const Vocabularies &vocabularies;
};

} // namespace

bool fovea::cli::readText(Session &session, const TextSource &source,
                          const DataInfo &data, const runtime::DataSpec &spec,
                          const Vocabularies &vocabularies,
                          std::vector<runtime::DataValues> &values) {
  if (spec.axes.size() > 1) {
    session.error(fmt::format("'{}' has {} axes, which a line of text cannot "
                              "have; give it as NAME=FILE.safetensors",
                              data.name, spec.axes.size()));
    return false;
  }
  LineReader reader(session, data, spec, vocabularies);
  return ColumnReader(session, source).run([&](StringRef line) {
    return reader.read(line, values.emplace_back());
  });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string fovea::cli::textOf(const DataInfo &data,
                               const reference::Array &array, bool hasEnd,
                               const Vocabularies &vocabularies) {
  size_t count = array.values.size();
  if (hasEnd && (data.isSentence || data.ends) && count > 0)
    --count;
  // The values of one place stand together: `0.5,1.5 0.25,2`.
  int64_t width = 1;
  for (size_t axis = 1; axis < array.shape.size(); ++axis)
    width *= array.shape[axis];
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && !vocabularies.isChars(data))
      text += width > 1 && i % width != 0 ? ',' : ' ';
    double value = array.values[i];
    bool isSymbol =
        data.kind == DataInfo::Token || data.kind == DataInfo::Class;
    text += isSymbol ? vocabularies.wordOf(data, static_cast<int64_t>(value))
                     : fmt::format("{}", value);
  }
  return text;
}
