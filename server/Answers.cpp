//===- Answers.cpp - what an editor asks about a file ---------------------===//

#include "server/Answers.h"
#include "frontends/fov/Options.h"
#include "frontends/fov/syntax/Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace fovea;
using namespace fovea::editors;
using ast::Statement;
using ast::StatementKind;
using llvm::StringRef;
namespace lsp = llvm::lsp;

static const char *placeIn(const Analysis &analysis,
                           const lsp::Position &position) {
  const Lines &lines = analysis.lines();
  return lines.text().begin() + lines.offsetOf(position);
}

/// The name at a position of the main file.
static const Occurrence *nameAt(const Analysis &analysis,
                                const lsp::Position &position) {
  const Occurrence *name = analysis.names().at(placeIn(analysis, position));
  return name && analysis.lines().contains(name->text.begin()) ? name : nullptr;
}

/// The file that contains a text of names().
static unsigned fileOf(const Analysis &analysis, StringRef text) {
  for (unsigned file = 0; file < analysis.names().files().size(); ++file)
    if (analysis.linesOf(file).contains(text.begin()))
      return file;
  return analysis.file();
}

static std::optional<lsp::Location> locationOf(const Analysis &analysis,
                                               StringRef text) {
  unsigned file = fileOf(analysis, text);
  std::string path = analysis.pathOf(file);
  if (path.empty())
    return std::nullopt;
  auto uri = lsp::URIForFile::fromFile(path);
  if (!uri) {
    llvm::consumeError(uri.takeError());
    return std::nullopt;
  }
  return lsp::Location(*uri, analysis.linesOf(file).rangeOf(text));
}

std::vector<lsp::Location>
fovea::editors::definitionsAt(const Analysis &analysis,
                              const lsp::Position &position) {
  std::vector<lsp::Location> result;
  if (const Occurrence *name = nameAt(analysis, position))
    for (StringRef place :
         analysis.names().declarations()[name->declaration].places)
      if (auto location = locationOf(analysis, place))
        result.push_back(*location);
  return result;
}

std::vector<lsp::Location>
fovea::editors::referencesAt(const Analysis &analysis,
                             const lsp::Position &position,
                             bool withDeclaration) {
  std::vector<lsp::Location> result;
  const Occurrence *name = nameAt(analysis, position);
  if (!name)
    return result;
  const Declaration &declaration =
      analysis.names().declarations()[name->declaration];
  for (const Occurrence &other : analysis.names().occurrences()) {
    bool declares = llvm::any_of(declaration.places, [&](StringRef place) {
      return place.begin() == other.text.begin();
    });
    if (other.declaration == name->declaration &&
        (withDeclaration || !declares))
      if (auto location = locationOf(analysis, other.text))
        result.push_back(*location);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Renaming
//===----------------------------------------------------------------------===//

static llvm::Error refused(const std::string &why) {
  return llvm::make_error<lsp::LSPError>(why, lsp::ErrorCode::InvalidParams);
}

llvm::Expected<Renaming>
fovea::editors::renamingAt(const Analysis &analysis,
                           const lsp::Position &position) {
  const Occurrence *name = nameAt(analysis, position);
  if (!name)
    return refused("no name to rename here");
  const Declaration &declaration =
      analysis.names().declarations()[name->declaration];
  std::string text = declaration.name.str();
  if (declaration.file == 0)
    return refused("'" + text + "' belongs to the prelude");
  if (declaration.kind == Declaration::Model)
    return refused("the model has the name of its file");
  // An equation for data, a `~`, does not declare it.
  StringRef place = declaration.places.front();
  unsigned file = fileOf(analysis, place);
  return Renaming{analysis.pathOf(file),
                  size_t(place.begin() - analysis.linesOf(file).text().begin()),
                  name->text};
}

/// Why a word cannot be a name; empty when it can.
static std::string whyNoName(StringRef word) {
  Diagnostics silent(llvm::nulls());
  Token token = Lexer(word, silent).next();
  if (!token.is(Token::Name) || token.text.size() != word.size())
    return token.isKeyword() && token.text.size() == word.size()
               ? quoted(word) + " is a reserved word"
               : quoted(word) + " is not a name; expected a letter, then "
                                "letters, digits and '_'";
  if (isReducer(word) || isNormaliser(word))
    return quoted(word) + " is a reserved word";
  return "";
}

llvm::Error fovea::editors::addRenames(const Analysis &analysis,
                                       const Renaming &renaming,
                                       StringRef newName,
                                       lsp::WorkspaceEdit &edit) {
  std::string why = whyNoName(newName);
  if (!why.empty())
    return refused(why);
  const Names &names = analysis.names();
  // The declaration, as this analysis has read it.
  std::optional<unsigned> meant;
  for (unsigned i = 0; i < names.declarations().size(); ++i) {
    const Declaration &declaration = names.declarations()[i];
    for (StringRef place : declaration.places) {
      unsigned file = fileOf(analysis, place);
      if (analysis.pathOf(file) == renaming.path &&
          size_t(place.begin() - analysis.linesOf(file).text().begin()) ==
              renaming.offset)
        meant = i;
    }
  }
  if (!meant)
    return llvm::Error::success();
  const Declaration &renamed = names.declarations()[*meant];
  for (unsigned i : names.visibleAt(analysis.file(), renamed.places[0].begin()))
    if (i != *meant && names.declarations()[i].name == newName &&
        names.declarations()[i].file != 0)
      return refused(quoted(newName) + " already has a meaning here");
  for (const Occurrence &other : names.occurrences()) {
    if (other.declaration != *meant || other.text != renamed.name)
      continue;
    auto location = locationOf(analysis, other.text);
    if (!location)
      continue;
    std::vector<lsp::TextEdit> &edits = edit.changes[location->uri.uri().str()];
    lsp::TextEdit change{location->range, newName.str()};
    if (!llvm::is_contained(edits, change))
      edits.push_back(change);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

static lsp::CompletionItemKind completionKind(Declaration::Kind kind) {
  switch (kind) {
  case Declaration::Dim:
  case Declaration::Const:
  case Declaration::Size:
  case Declaration::Length:
    return lsp::CompletionItemKind::Constant;
  case Declaration::Def:
  case Declaration::Param:
    return lsp::CompletionItemKind::Function;
  case Declaration::Import:
  case Declaration::Model:
    return lsp::CompletionItemKind::Module;
  case Declaration::Label:
    return lsp::CompletionItemKind::EnumMember;
  case Declaration::Data:
    return lsp::CompletionItemKind::Field;
  default:
    return lsp::CompletionItemKind::Variable;
  }
}

/// The shape, or the head of a def.
static std::string detailOf(const Analysis &analysis,
                            const Declaration &declaration) {
  if (declaration.kind == Declaration::Def) {
    const char *begin = declaration.statement->range.Start.getPointer();
    StringRef text(begin,
                   declaration.statement->range.End.getPointer() - begin);
    return text.split('\n').first.split('{').first.rtrim().str();
  }
  auto facts = analysis.factsOf(declaration);
  return facts.size() == 1 ? facts.front()->shape : std::string();
}

std::vector<lsp::CompletionItem>
fovea::editors::completionsAt(const Analysis &analysis,
                              const lsp::Position &position) {
  std::vector<lsp::CompletionItem> items;
  auto add = [&](StringRef label, lsp::CompletionItemKind kind,
                 std::string detail = "") {
    if (llvm::any_of(items, [&](auto &item) { return item.label == label; }))
      return;
    lsp::CompletionItem &item = items.emplace_back();
    item.label = label.str();
    item.kind = kind;
    item.detail = llvm::json::fixUTF8(detail);
  };
  auto addName = [&](unsigned i) {
    const Declaration &declaration = analysis.names().declarations()[i];
    add(declaration.name, completionKind(declaration.kind),
        detailOf(analysis, declaration));
  };
  const Names &names = analysis.names();
  StringRef text = analysis.lines().text();
  const char *place = placeIn(analysis, position);
  StringRef before = text.take_front(place - text.begin());
  before = before.rtrim(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  StringRef line = before.substr(before.rfind('\n') + 1);
  if (line.contains('#'))
    return items;
  if (before.consume_back(".")) {
    StringRef base = before.drop_while([](char) { return false; });
    size_t begin = base.find_last_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    StringRef word = base.substr(begin == StringRef::npos ? 0 : begin + 1);
    for (unsigned i : names.visibleAt(analysis.file(), place)) {
      const Declaration &declaration = names.declarations()[i];
      if (declaration.name != word)
        continue;
      for (unsigned member : names.membersOf(i))
        addName(member);
      if (declaration.kind == Declaration::Data)
        for (StringRef attribute : {"vocab", "classes"})
          add(attribute, lsp::CompletionItemKind::Property);
      if (declaration.kind == Declaration::Vocabulary)
        add("size", lsp::CompletionItemKind::Property);
    }
    return items;
  }
  for (unsigned i : names.visibleAt(analysis.file(), place))
    addName(i);
  for (StringRef block : {"train", "decode"})
    for (const Statement *s : names.files()[analysis.file()].ast->statements)
      if (s->kind == StatementKind::Block && s->name == block &&
          s->range.Start.getPointer() <= place &&
          place <= s->range.End.getPointer())
        for (StringRef option : fov::optionNames(block))
          add(option, lsp::CompletionItemKind::Property,
              "option of " + block.str());
  for (StringRef word : fov::builtinNames())
    add(word, lsp::CompletionItemKind::Function);
  for (StringRef word : {
#define KEYWORD(word) StringRef(#word),
#define REDUCER(word) StringRef(#word),
#define NORMALISER(word) StringRef(#word),
#include "frontends/fov/syntax/Tokens.def"
       })
    add(word, lsp::CompletionItemKind::Keyword);
  if (line.trim().starts_with("metric"))
    for (StringRef word : fov::metrics())
      add(word, lsp::CompletionItemKind::Function, "metric");
  return items;
}

//===----------------------------------------------------------------------===//
// The file as a whole
//===----------------------------------------------------------------------===//

static lsp::SymbolKind symbolKind(const Statement &s) {
  switch (s.kind) {
  case StatementKind::Dim:
  case StatementKind::Const:
  case StatementKind::Length:
    return lsp::SymbolKind::Constant;
  case StatementKind::Vocab:
    return lsp::SymbolKind::Enum;
  case StatementKind::Data:
    return lsp::SymbolKind::Field;
  case StatementKind::Param:
    return lsp::SymbolKind::Object;
  case StatementKind::Def:
    return lsp::SymbolKind::Function;
  case StatementKind::Use:
    return lsp::SymbolKind::Module;
  case StatementKind::Block:
    return lsp::SymbolKind::Namespace;
  default:
    return lsp::SymbolKind::Variable;
  }
}

static void addSymbols(const Lines &lines,
                       llvm::ArrayRef<Statement *> statements,
                       std::vector<lsp::DocumentSymbol> &out) {
  for (const Statement *s : statements) {
    auto add = [&](StringRef name, StringRef at) {
      // Statements such as `dim A = 1, B = 2` give several names.
      const char *begin =
          std::min(s->range.Start.getPointer(), at.begin(), std::less<>());
      const char *end =
          std::max(s->range.End.getPointer(), at.end(), std::less<>());
      out.emplace_back(name, symbolKind(*s),
                       lines.rangeOf(StringRef(begin, end - begin)),
                       lines.rangeOf(at));
      if (s->kind == StatementKind::Def)
        addSymbols(lines, s->body, out.back().children);
    };
    switch (s->kind) {
    case StatementKind::Data:
    case StatementKind::Param:
      add(s->array.name, s->array.name);
      break;
    case StatementKind::Equation:
    case StatementKind::Choice:
      for (const ast::Left &left : s->lefts)
        add(left.name, left.name);
      break;
    case StatementKind::Use:
      add(s->name.empty() ? s->model : s->name,
          s->name.empty() ? s->model : s->name);
      break;
    case StatementKind::Block:
      add(s->name, StringRef(s->loc.getPointer(), s->name.size()));
      break;
    case StatementKind::Return:
    case StatementKind::Penalty:
      break;
    default:
      if (!s->name.empty())
        add(s->name, s->name);
    }
  }
}

std::vector<lsp::DocumentSymbol>
fovea::editors::symbolsOf(const Analysis &analysis) {
  std::vector<lsp::DocumentSymbol> result;
  addSymbols(analysis.lines(),
             analysis.names().files()[analysis.file()].ast->statements, result);
  return result;
}

/// Whether `name` has the letters of `query` in their order, in any case.
static bool matches(StringRef name, StringRef query) {
  for (char c : name)
    if (!query.empty() && llvm::toLower(c) == llvm::toLower(query.front()))
      query = query.drop_front();
  return query.empty();
}

std::vector<FoundSymbol> fovea::editors::findSymbols(const Analysis &analysis,
                                                     StringRef query) {
  std::vector<FoundSymbol> result;
  const std::vector<Names::File> &files = analysis.names().files();
  // All but the prelude.
  for (unsigned file = 1; file < files.size(); ++file) {
    auto uri = lsp::URIForFile::fromFile(analysis.pathOf(file));
    if (!uri) {
      llvm::consumeError(uri.takeError());
      continue;
    }
    std::vector<lsp::DocumentSymbol> symbols;
    addSymbols(analysis.linesOf(file), files[file].ast->statements, symbols);
    for (const lsp::DocumentSymbol &symbol : symbols)
      if (matches(symbol.name, query))
        result.push_back({symbol.name, files[file].ast->model.str(),
                          symbol.kind,
                          lsp::Location(*uri, symbol.selectionRange)});
  }
  return result;
}

std::vector<lsp::InlayHint> fovea::editors::hintsOf(const Analysis &analysis,
                                                    const lsp::Range &range) {
  std::vector<lsp::InlayHint> result;
  const Lines &lines = analysis.lines();
  const char *first = placeIn(analysis, range.start);
  const char *last = placeIn(analysis, range.end);
  for (const Declaration &declaration : analysis.names().declarations()) {
    if (declaration.kind != Declaration::Equation || declaration.def ||
        declaration.file != analysis.file())
      continue;
    auto facts = analysis.factsOf(declaration);
    StringRef name = declaration.places.front();
    bool isMember = facts.size() > 1;
    if (facts.empty() || isMember || name.begin() < first ||
        name.begin() > last || !lines.contains(name.begin()))
      continue;
    // After the places: `align[t]`.
    StringRef rest(name.end(), lines.text().end() - name.end());
    size_t length = rest.starts_with("[") ? rest.find(']') + 1 : 0;
    lsp::InlayHint hint(
        lsp::InlayHintKind::Type,
        lines.positionOf(name.end() + length - lines.text().begin()));
    const SpecFacts::ArrayFact &fact = *facts.front();
    hint.label = fact.extents.empty()
                     ? ": " + (fact.kind.empty() ? "number" : fact.kind)
                     : ": [" + llvm::join(fact.extents, ", ") + "]";
    result.push_back(std::move(hint));
  }
  llvm::sort(result, [](auto &a, auto &b) {
    return std::pair(a.position.line, a.position.character) <
           std::pair(b.position.line, b.position.character);
  });
  return result;
}

static void addFoldings(const Lines &lines,
                        llvm::ArrayRef<Statement *> statements,
                        std::vector<Folding> &out) {
  for (const Statement *s : statements) {
    const char *begin = lines.text().begin();
    int first = lines.positionOf(s->range.Start.getPointer() - begin).line;
    int last = lines.positionOf(s->range.End.getPointer() - begin).line;
    if (last > first && (out.empty() || out.back().first != first))
      out.push_back({first, last, "region"});
    addFoldings(lines, s->body, out);
  }
}

std::vector<Folding> fovea::editors::foldingsOf(const Analysis &analysis) {
  std::vector<Folding> result;
  const Lines &lines = analysis.lines();
  addFoldings(lines, analysis.names().files()[analysis.file()].ast->statements,
              result);
  // Lines of comment in a row.
  size_t begin = 0;
  for (size_t line = 0; line <= lines.count(); ++line) {
    if (line < lines.count() && lines.line(line).trim().starts_with("#"))
      continue;
    if (line > begin + 1)
      result.push_back({int(begin), int(line) - 1, "comment"});
    begin = line + 1;
  }
  return result;
}

std::vector<lsp::CodeAction>
fovea::editors::actionsIn(const Analysis &analysis, const lsp::URIForFile &uri,
                          const lsp::Range &range) {
  std::vector<lsp::CodeAction> result;
  auto order = [](const lsp::Position &position) {
    return std::pair(position.line, position.character);
  };
  for (const Problem &problem : analysis.problems()) {
    const lsp::Range &own = problem.diagnostic.range;
    if (order(own.end) < order(range.start) ||
        order(range.end) < order(own.start))
      continue;
    for (const Fix &fix : problem.fixes) {
      lsp::CodeAction &action = result.emplace_back();
      action.title = fix.title;
      action.kind = lsp::CodeAction::kQuickFix.str();
      action.diagnostics = {problem.diagnostic};
      action.isPreferred =
          &fix == &problem.fixes.front() &&
          problem.diagnostic.severity == lsp::DiagnosticSeverity::Error;
      action.edit.emplace();
      action.edit->changes[uri.uri().str()] = {fix.edit};
    }
  }
  return result;
}
