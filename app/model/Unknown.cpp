//===- Unknown.cpp - what replaces unknown words --------------------------===//

#include "app/model/Unknown.h"
#include "compiler/Contents.h"
#include "frontends/fov/syntax/SourceFile.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

namespace {
/// The parsed entry.
struct Entry {
  std::string equation, dictionary;
};
} // namespace

/// `replace(align, dictionary = "FILE")`, `replace(align)` or `align`.
static bool parse(StringRef text, Entry &entry) {
  text = text.trim();
  bool isCall = text.consume_front("replace(");
  if (isCall && !text.consume_back(")"))
    return false;
  auto [equation, rest] = text.split(',');
  entry.equation = equation.trim().str();
  rest = rest.trim();
  if (entry.equation.find_first_of(" \t(\"") != std::string::npos ||
      entry.equation.empty())
    return false;
  if (rest.empty())
    return !text.contains(',');
  if (!isCall || !rest.consume_front("dictionary"))
    return false;
  rest = rest.ltrim();
  if (!rest.consume_front("="))
    return false;
  rest = rest.ltrim();
  if (!rest.consume_front("\"") || !rest.consume_back("\"") || rest.empty())
    return false;
  entry.dictionary = rest.str();
  return true;
}

/// Each line has a word and its replacement; the first line of a word counts.
static bool readDictionary(Session &session, const TextSource &source,
                           std::map<std::string, std::string> &dictionary) {
  return forLines(session, source, [&](StringRef line) {
    auto [word, translation] = line.split('\t');
    if (word.empty() || translation.empty()) {
      session.diagnostics().error(Code::dataValue,
                                  llvm::SMLoc::getFromPointer(line.data()),
                                  "expected a word, a tab and its replacement");
      return false;
    }
    dictionary.try_emplace(word.str(), translation.str());
    return true;
  });
}

/// The extents of an equation, as text.
static std::vector<std::string> extentsOf(Model &model, StringRef name) {
  std::vector<std::string> extents;
  for (compiler::Equation &equation :
       compiler::equationsIn(*model.module, "decoding"))
    if (equation.name == name)
      extents = std::move(equation.extents);
  return extents;
}

/// Returns the tokens along an extent, or null.
static const DataInfo *tokensAlong(const Model &model, StringRef extent,
                                   bool isChosen) {
  for (const DataInfo &data : model.data)
    if (data.isChosen == isChosen && data.kind == DataInfo::Token &&
        data.numIndices == 1 && data.extents.front() == extent)
      return &data;
  return nullptr;
}

bool fovea::cli::readUnknown(Session &session, const Arguments &arguments,
                             Model &model, runtime::UnknownWords &unknown) {
  auto decode =
      (*model.module)->getAttrOfType<mlir::DictionaryAttr>("attn.decode");
  auto text = decode ? decode.getAs<mlir::StringAttr>("unknown") : nullptr;
  if (!text || text == "none") {
    if (!arguments.dictionary.empty())
      session.error("'--dictionary' needs '--replace-unknown NAME'");
    return arguments.dictionary.empty();
  }
  Entry entry;
  if (!parse(text, entry)) {
    session.error(
        fmt::format("{}: decode {{ unknown = {} }}: expected none, "
                    "replace(NAME) or replace(NAME, dictionary = \"FILE\")",
                    arguments.spec(), text.str()));
    return false;
  }
  std::vector<std::string> equations =
      equationsNamed(session, model, "decoding", entry.equation);
  if (equations.empty())
    return false;
  std::vector<std::string> extents = extentsOf(model, equations.front());
  const DataInfo *generated = nullptr, *given = nullptr;
  if (equations.size() == 1 && extents.size() == 2) {
    generated = tokensAlong(model, extents[0], /*isChosen=*/true);
    given = tokensAlong(model, extents[1], /*isChosen=*/false);
  }
  if (!generated || !given) {
    session.error(fmt::format(
        "'{}' has axes [{}], but its axes must be generated and given tokens",
        entry.equation, llvm::join(extents, ", ")));
    return false;
  }
  unknown.weights = equations.front();
  unknown.generated = generated->name;
  unknown.given = given->name;
  TextSource dictionary = {arguments.dictionary};
  if (dictionary.path.empty() && !entry.dictionary.empty()) {
    dictionary = {entry.dictionary, 0, session.storedFile(entry.dictionary)};
    if (!dictionary.text &&
        !findBesideSpec(session, arguments, entry.dictionary, dictionary.path))
      return false;
  }
  return dictionary.path.empty() ||
         readDictionary(session, dictionary, unknown.dictionary);
}

void fovea::cli::storeDictionary(Session &session, const Arguments &arguments,
                                 Model &model) {
  auto decode =
      (*model.module)->getAttrOfType<mlir::DictionaryAttr>("attn.decode");
  auto text = decode ? decode.getAs<mlir::StringAttr>("unknown") : nullptr;
  Entry entry;
  std::string path, why;
  if (!text || !parse(text, entry) || entry.dictionary.empty() ||
      session.storedFile(entry.dictionary) ||
      !findBesideSpec(session, arguments, entry.dictionary, path))
    return;
  if (std::optional<std::string> lines = readSource(path, why))
    session.storeFile(entry.dictionary, *lines);
}

void fovea::cli::nameGivenWords(const runtime::UnknownWords &unknown,
                                Execution &execution) {
  for (const DataInfo &data : execution.model->data)
    for (runtime::Example &example : execution.examples)
      if (data.name == unknown.given)
        runtime::nameWords(example, fieldOf(data),
                           execution.vocabularies.words());
}
