//===- Prefixes.cpp - what generated lines begin with ---------------------===//

#include "driver/data/Prefixes.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

const DataInfo *fovea::cli::findGenerated(Session &session, const Model &model,
                                          const std::string &text,
                                          std::string &path) {
  std::vector<StringRef> names;
  std::vector<const DataInfo *> generated;
  for (const DataInfo &data : model.data)
    if (data.isChosen) {
      names.push_back(data.name);
      generated.push_back(&data);
    }
  std::string name;
  if (!splitPair(text, name, path)) {
    path = text;
    if (generated.size() == 1)
      return generated.front();
    session.error(fmt::format("'{}' generates {}; say which begins so: "
                              "'--prefix {}={}'",
                              model.name, llvm::join(names, ", "),
                              names.front().str(), path));
    return nullptr;
  }
  for (const DataInfo *data : generated)
    if (data->name == name)
      return data;
  StringRef meant = nearest(name, names);
  session.error("'" + name + "' is not generated" +
                (meant.empty() ? "" : "; did you mean '" + meant.str() + "'?"));
  return nullptr;
}

namespace {
/// The lines of one file.
class PrefixReader {
public:
  PrefixReader(Session &session, const DataInfo &data,
               const runtime::Vocabularies &vocabularies)
      : session(session), field(fieldOf(data)), vocabularies(vocabularies) {}

  bool readLine(StringRef line, std::vector<double> &values);

private:
  bool explain(std::string_view place, const std::string &text) {
    session.diagnostics().error(llvm::SMLoc::getFromPointer(place.data()),
                                text);
    return false;
  }
  bool readWord(std::string_view word, std::vector<double> &values);

  Session &session;
  runtime::TextField field;
  const runtime::Vocabularies &vocabularies;
};
} // namespace

bool PrefixReader::readWord(std::string_view word,
                            std::vector<double> &values) {
  if (field.isSentence && !values.empty() &&
      values.back() == double(runtime::Symbol::end))
    return explain(word, "nothing is generated behind '</s>'");
  const runtime::Vocabulary *vocabulary = vocabularies.find(field);
  if (vocabulary && !vocabulary->ids.contains(std::string(word)))
    return explain(word, fmt::format("'{}' is not in the vocabulary of '{}'",
                                     word, field.name));
  std::optional<int64_t> id = vocabularies.idOf(field, word);
  if (!id)
    return explain(word, fmt::format("'{}' is no id{}", word, field.hint));
  if (*id < 0 || (field.size >= 0 && *id >= field.size))
    return explain(word, fmt::format("'{}' takes 0 to {}, not {}", field.name,
                                     field.size - 1, *id));
  values.push_back(static_cast<double>(*id));
  return true;
}

bool PrefixReader::readLine(StringRef line, std::vector<double> &values) {
  bool good = true;
  if (const runtime::Pieces *pieces = vocabularies.piecesOf(field)) {
    for (const runtime::Pieces::Piece &piece : pieces->cut(line)) {
      if (piece.id == runtime::Symbol::unknown)
        return explain(line, fmt::format("'{}' is not in the vocabulary of "
                                         "'{}'",
                                         piece.text, field.name));
      values.push_back(static_cast<double>(piece.id));
    }
    return true;
  }
  runtime::forSymbols(
      line, vocabularies.isChars(field),
      [&](std::string_view word) { good = good && readWord(word, values); });
  return good;
}

bool fovea::cli::readPrefixes(Session &session, const Arguments &arguments,
                              Execution &execution) {
  bool good = true;
  for (const std::string &text : arguments.prefixes) {
    std::string path;
    const DataInfo *data = findGenerated(session, *execution.model, text, path);
    if (!data)
      return false;
    if (data->numIndices != 1 ||
        (data->kind != DataInfo::Token && data->kind != DataInfo::Class &&
         data->kind != DataInfo::Position)) {
      session.error(fmt::format("'{}' is not generated symbol by symbol, so "
                                "that it has no prefix",
                                data->name));
      return false;
    }
    PrefixReader reader(session, *data, execution.vocabularies.words());
    size_t count = 0;
    good &= forLines(session, sourceOf(path), [&](StringRef line) {
      std::vector<double> values;
      bool isGood = reader.readLine(line, values);
      if (count < execution.examples.size() && !values.empty())
        execution.examples[count].prefix[data->name] = std::move(values);
      ++count;
      return isGood;
    });
    if (good && count != execution.examples.size()) {
      session.error(fmt::format("'{}' has {} lines for {} examples", path,
                                count, execution.examples.size()));
      good = false;
    }
  }
  return good;
}
