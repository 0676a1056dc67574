//===- TextData.cpp - symbols as people write them ------------------------===//

#include "tools/fovea/TextData.h"
#include "tools/fovea/Inputs.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

#include <cmath>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

/// Reads a file into the session's sources, so that errors can show its lines.
static std::optional<StringRef> readFile(Session &session,
                                         const std::string &path) {
  if (StringRef(path).ends_with(".gz")) {
    session.error(path + ": compressed text cannot be read yet");
    return std::nullopt;
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

//===----------------------------------------------------------------------===//
// Vocabularies
//===----------------------------------------------------------------------===//

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
    bool isKnown = llvm::any_of(model.data, [&](const DataInfo &data) {
      return data.name == name || data.vocabulary == name;
    });
    if (!isKnown) {
      session.error("no vocabulary and no data is called '" + name + "'");
      good = false;
      continue;
    }
    std::optional<StringRef> contents = readFile(session, path);
    if (!contents) {
      good = false;
      continue;
    }
    Words &words = byName[name];
    for (StringRef line : linesOf(*contents)) {
      words.ids.try_emplace(line, words.byId.size());
      words.byId.push_back(line.str());
    }
  }
  return good;
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

/// Splits `FILE:2` into a file and a column from 1, 0 for none.
static unsigned takeColumn(std::string &path) {
  auto [file, column] = StringRef(path).rsplit(':');
  unsigned number = 0;
  if (column.empty() || column.getAsInteger(10, number) || number == 0)
    return 0;
  path = file.str();
  return number;
}

namespace {

/// Reads the values of one line.
class LineReader {
public:
  LineReader(Session &session, const DataInfo &data,
             const runtime::DataSpec &spec, const Vocabularies &vocabularies)
      : session(session), data(data), spec(spec), vocabularies(vocabularies) {}

  bool read(StringRef line, runtime::DataValues &result) {
    bool good = true;
    StringRef rest = line;
    while (!(rest = rest.ltrim(" \t")).empty()) {
      StringRef word =
          rest.take_until([](char c) { return c == ' ' || c == '\t'; });
      rest = rest.drop_front(word.size());
      good &= readWord(word, result.values);
    }
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

bool fovea::cli::readText(Session &session, const std::string &given,
                          const DataInfo &data, const runtime::DataSpec &spec,
                          const Vocabularies &vocabularies,
                          std::vector<runtime::DataValues> &values) {
  if (spec.axes.size() > 1) {
    session.error(fmt::format("'{}' has {} axes, which a line of text cannot "
                              "have; give it as NAME=FILE.safetensors",
                              data.name, spec.axes.size()));
    return false;
  }
  std::string path = given;
  unsigned column = takeColumn(path);
  std::optional<StringRef> contents = readFile(session, path);
  if (!contents)
    return false;
  LineReader reader(session, data, spec, vocabularies);
  bool good = true;
  for (StringRef line : linesOf(*contents)) {
    if (column != 0) {
      llvm::SmallVector<StringRef> fields;
      line.split(fields, '\t');
      if (fields.size() < column) {
        session.diagnostics().error(
            llvm::SMLoc::getFromPointer(line.data()),
            fmt::format("column {} is wanted but this line has {}", column,
                        fields.size()));
        good = false;
        continue;
      }
      line = fields[column - 1];
    }
    good &= reader.read(line, values.emplace_back());
  }
  return good;
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
    if (i > 0)
      text += width > 1 && i % width != 0 ? ',' : ' ';
    double value = array.values[i];
    bool isSymbol =
        data.kind == DataInfo::Token || data.kind == DataInfo::Class;
    text += isSymbol ? vocabularies.wordOf(data, static_cast<int64_t>(value))
                     : fmt::format("{}", value);
  }
  return text;
}
