//===- TextData.cpp - files of examples and of symbols --------------------===//

#include "driver/data/TextData.h"
#include "driver/data/FileData.h"
#include "driver/data/Inputs.h"
#include "driver/data/SentencePieces.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "runtime/data/OpenFile.h"
#include "runtime/data/UnknownWords.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Files and lines
//===----------------------------------------------------------------------===//

/// Unpacks a .gz file. Empty, and reported, when it cannot.
static std::optional<std::string> unpack(Session &session,
                                         const std::string &path) {
  std::string why;
  int descriptor = runtime::openToRead(path, why);
  gzFile file = descriptor < 0 ? nullptr : gzdopen(descriptor, "rb");
  if (!file) {
    if (descriptor >= 0) {
      why = std::strerror(errno);
      close(descriptor);
    }
    session.error("cannot read '" + path + "': " + why);
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
  std::string why;
  std::optional<std::string> text = readSource(path, why);
  if (!text) {
    session.error("cannot read " +
                  (path == "-" ? "standard input" : "'" + path + "'") + ": " +
                  why);
    return std::nullopt;
  }
  return session.diagnostics().addSource(sourceName(path), std::move(*text));
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
    return {given};
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
  if (line.size() > runtime::longestLine) {
    session.error(fmt::format("'{}': a line has {} bytes, but an example has "
                              "at most {}",
                              source.path, line.size(), runtime::longestLine));
    return false;
  }
  if (size_t valid = runtime::validUtf8(line); valid < line.size())
    return explain(line.substr(valid), "this is not UTF-8");
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
  std::optional<StringRef> contents =
      source.text ? session.diagnostics().addSource(source.path, *source.text)
                  : readFile(session, source.path);
  if (!contents)
    return false;
  if (contents->empty()) {
    session.error("'" + sourceName(source.path).str() + "' is empty");
    return false;
  }
  bool good = true;
  for (StringRef line : linesOf(*contents))
    good &= readLine(line, take);
  return good;
}

bool fovea::cli::forLines(Session &session, const TextSource &source,
                          llvm::function_ref<bool(StringRef)> take) {
  return ColumnReader(session, source).run(take);
}

//===----------------------------------------------------------------------===//
// Vocabularies
//===----------------------------------------------------------------------===//

bool Vocabularies::read(Session &session, const Arguments &arguments,
                        const Model &model) {
  bool good = true;
  for (const std::string &text : arguments.vocabularies) {
    std::string name, path;
    [[maybe_unused]] bool isPair = splitPair(text, name, path);
    assert(isPair && "the command line has been checked");
    auto known = llvm::find_if(model.data, [&](const DataInfo &data) {
      return data.name == name || data.vocabulary == name;
    });
    if (known == model.data.end()) {
      std::vector<StringRef> names;
      for (const DataInfo &data : model.data)
        if (data.kind == DataInfo::Token || data.kind == DataInfo::Class)
          names.insert(names.end(), {data.name, data.vocabulary});
      session.error("no vocabulary and no data is called '" + name + "'" +
                    existing(name, std::move(names)));
      good = false;
      continue;
    }
    origins[name] = {known->vocabulary, /*isStored=*/false};
    runtime::Vocabulary &words = symbols[name];
    words = {};
    words.isChars = known->vocabularyKind == "chars";
    good &= ColumnReader(session, {path}).run([&](StringRef line) {
      if (auto before = words.ids.find(line.str()); before != words.ids.end()) {
        session.diagnostics().error(
            llvm::SMLoc::getFromPointer(line.data()),
            fmt::format("'{}' has the id {} already, from line {}", line.str(),
                        before->second, before->second + 1));
        return false;
      }
      words.add(line);
      return true;
    });
  }
  return good;
}

bool Vocabularies::load(Session &session, const Arguments &arguments,
                        const runtime::TensorFile &weights,
                        const std::string &path,
                        llvm::function_ref<std::string(StringRef)> rename) {
  for (const auto &[key, text] : weights.metadata) {
    if (!runtime::Vocabularies::isKey(key))
      continue;
    std::string name = rename(runtime::Vocabularies::nameIn(key));
    if (llvm::any_of(arguments.sets, [&](const auto &set) {
          return set.first == name + ".vocab";
        }))
      continue;
    origins[name] = {name, /*isStored=*/true};
    runtime::Status status = symbols.take(key, text, name);
    if (status.failed()) {
      session.error(path + ": " + status.text());
      return false;
    }
    if (!symbols[name].model.empty())
      status = restorePieces(path, symbols[name]);
    if (status.failed()) {
      session.error(status.text());
      return false;
    }
  }
  return true;
}

bool Vocabularies::readModels(Session &session, const Arguments &arguments,
                              const Model &model) {
  for (const DataInfo &data : model.data) {
    if (data.vocabularyKind != "sentencepiece" || symbols.find(fieldOf(data)))
      continue;
    std::string path = besideSpec(arguments, data.vocabularyFile);
    std::string why;
    std::optional<std::string> text = readSource(path, why);
    if (!text) {
      session.error("cannot read '" + path + "': " + why);
      return false;
    }
    origins[data.vocabulary] = {data.vocabulary, /*isStored=*/true};
    if (runtime::Status status =
            readPieces(path, *text, symbols[data.vocabulary]);
        status.failed()) {
      session.error(status.text());
      return false;
    }
  }
  return true;
}

bool Vocabularies::build(Session &session, const Model &model,
                         const std::map<std::string, TextSource> &texts) {
  std::map<std::string, llvm::StringMap<int64_t>> counts;
  std::map<std::string, const DataInfo *> users;
  bool good = true;
  for (const DataInfo &data : model.data) {
    auto text = texts.find(data.name);
    if (data.kind != DataInfo::Token || data.vocabularyKind == "ids" ||
        text == texts.end() || symbols.find(fieldOf(data)))
      continue;
    users[data.vocabulary] = &data;
    llvm::StringMap<int64_t> &own = counts[data.vocabulary];
    std::vector<std::string> separators = fieldOf(data).separators;
    good &= ColumnReader(session, text->second).run([&](StringRef line) {
      runtime::forLists(
          line, separators,
          [&](std::string_view list, const std::vector<int64_t> &) {
            runtime::forSymbols(list, data.vocabularyKind == "chars",
                                [&](std::string_view word) { ++own[word]; });
          });
      return true;
    });
  }
  for (auto &[name, own] : counts) {
    origins[name] = {name, /*isStored=*/true};
    runtime::Vocabulary &words = symbols[name];
    words = {};
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
  for (const auto &[name, origin] : origins)
    if (origin.isStored || ofAll)
      result.push_back({origin.vocabulary + ".vocab",
                        std::to_string(symbols.all().at(name).byId.size())});
  return result;
}

runtime::TextField fovea::cli::fieldOf(const DataInfo &data) {
  runtime::TextField field;
  field.name = data.name;
  field.isSymbols =
      data.kind == DataInfo::Token || data.kind == DataInfo::Class;
  field.isSentence = data.isSentence;
  field.ends = data.ends;
  field.vocabulary = data.vocabulary;
  field.size = data.vocabularySize;
  field.labels = data.labels;
  field.numIndices = data.numIndices;
  field.separators = data.loader.separators;
  // `|` between the lists of the last outer axis, `||` outside of that, ..
  if (size_t outer = std::max(data.numIndices, 1u) - 1;
      field.separators.empty())
    for (; outer > 0; --outer)
      field.separators.push_back(std::string(outer, '|'));
  field.hint = "; words need '--vocab " + data.name + "=FILE'";
  return field;
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

/// The file that a line names, where it names one: those of a list lie beside
/// the list.
static std::string fileIn(StringRef line, const DataInfo &data,
                          const TextSource &source) {
  line = line.trim();
  if ((data.kind != DataInfo::Real && data.kind != DataInfo::Bit) ||
      !isDataFile(line))
    return "";
  if (source.path == "-" || llvm::sys::path::is_absolute(line))
    return line.str();
  llvm::SmallString<128> path = llvm::sys::path::parent_path(source.path);
  llvm::sys::path::append(path, line);
  return path.str().str();
}

bool fovea::cli::readText(Session &session, const TextSource &source,
                          const DataInfo &data, const runtime::DataSpec &spec,
                          const Vocabularies &vocabularies,
                          std::vector<LoadedValues> &values,
                          std::vector<std::vector<std::string>> *words) {
  runtime::TextField field = fieldOf(data);
  bool isText = data.loader.kind.empty() || data.loader.kind == "text";
  auto report = [&](std::string_view place, const std::string &text) {
    session.diagnostics().error(llvm::SMLoc::getFromPointer(place.data()),
                                text);
    return false;
  };
  return ColumnReader(session, source).run([&](StringRef line) {
    if (words)
      words->push_back(runtime::wordsOf(line, field, vocabularies.words()));
    LoadedValues &own = values.emplace_back();
    if (std::string file = fileIn(line, data, source); !file.empty()) {
      runtime::Status status = loadFile(file, data, spec, own);
      return status.succeeded() || report(line, status.text());
    }
    if (!isText)
      return report(line, fmt::format("'{}' comes from {}, but this line names "
                                      "no such file",
                                      data.name, data.loader.kind));
    return runtime::readLine(line, field, spec, vocabularies.words(),
                             own.values, own.lengths, report);
  });
}

std::string fovea::cli::textOf(const DataInfo &data,
                               const reference::Array &array, bool hasEnd,
                               const Vocabularies &vocabularies,
                               const runtime::Replacement &replacement) {
  return runtime::textOf(fieldOf(data), {array.shape, array.values}, hasEnd,
                         vocabularies.words(), replacement);
}
