//===- Words.cpp - what each word of a file is ----------------------------===//
//
// Semantic tokens and highlights. Words of the language are read by its lexer,
// so they are there in a file with mistakes, too; names are those of Names.h.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/syntax/Lexer.h"
#include "server/Answers.h"

using namespace fovea;
using namespace fovea::editors;
using llvm::StringRef;
namespace lsp = llvm::lsp;

namespace {
/// Kinds of words, by their places in wordKinds().
enum Kind {
  Namespace,
  Type,
  TypeParameter,
  Parameter,
  Variable,
  Property,
  EnumMember,
  Function,
  Keyword,
  Comment,
  String,
  Number
};
/// Bits, by their places in wordMarks().
enum Mark { None = 0, Declares = 1, ReadOnly = 2, OfLibrary = 4 };

struct Word {
  Kind kind;
  int marks = None;
};
} // namespace

llvm::ArrayRef<StringRef> fovea::editors::wordKinds() {
  static constexpr StringRef names[] = {
      "namespace", "type",     "typeParameter", "parameter",
      "variable",  "property", "enumMember",    "function",
      "keyword",   "comment",  "string",        "number"};
  return names;
}

llvm::ArrayRef<StringRef> fovea::editors::wordMarks() {
  static constexpr StringRef names[] = {"declaration", "readonly",
                                        "defaultLibrary"};
  return names;
}

static Word wordOf(Declaration::Kind kind) {
  switch (kind) {
  case Declaration::Model:
  case Declaration::Import:
    return {Namespace};
  case Declaration::Vocabulary:
    return {Type};
  case Declaration::Index:
    return {TypeParameter};
  case Declaration::Data:
    return {Parameter, ReadOnly};
  case Declaration::Argument:
    return {Parameter};
  case Declaration::Dim:
  case Declaration::Const:
  case Declaration::Length:
  case Declaration::Size:
    return {Variable, ReadOnly};
  case Declaration::Equation:
    return {Variable};
  case Declaration::Param:
    return {Property};
  case Declaration::Label:
    return {EnumMember, ReadOnly};
  case Declaration::Def:
    return {Function};
  }
  llvm_unreachable("every kind is listed");
}

static bool declares(const Declaration &declaration, StringRef text) {
  return llvm::any_of(declaration.places, [&](StringRef place) {
    return place.begin() == text.begin();
  });
}

/// Nothing for signs, and for names without a meaning.
static std::optional<Word> wordOf(const Analysis &analysis,
                                  const Token &token) {
  if (token.isKeyword())
    return Word{Keyword};
  if (token.isAny(Token::Integer, Token::Real))
    return Word{Number};
  if (token.is(Token::String))
    return Word{String};
  if (token.is(Token::Comment))
    return Word{Comment};
  if (!token.is(Token::Name))
    return std::nullopt;
  const Occurrence *name = analysis.names().at(token.text.begin());
  if (name && name->text == token.text &&
      name->text.begin() == token.text.begin()) {
    const Declaration &declaration =
        analysis.names().declarations()[name->declaration];
    Word word = wordOf(declaration.kind);
    if (declares(declaration, token.text))
      word.marks |= Declares;
    if (declaration.file == 0)
      word.marks |= OfLibrary;
    return word;
  }
  bool isBuiltin = isReducer(token.text) || isNormaliser(token.text) ||
                   llvm::is_contained(fov::builtinNames(), token.text);
  return isBuiltin ? std::optional(Word{Function, OfLibrary}) : std::nullopt;
}

std::vector<int64_t> fovea::editors::wordsOf(const Analysis &analysis) {
  std::vector<int64_t> result;
  const Lines &lines = analysis.lines();
  Diagnostics silent(llvm::nulls());
  Lexer lexer(lines.text(), silent, /*keepComments=*/true);
  lsp::Position last(0, 0);
  for (Token token = lexer.next(); !token.is(Token::EndOfFile);
       token = lexer.next()) {
    std::optional<Word> word = wordOf(analysis, token);
    if (!word)
      continue;
    const char *begin = token.loc().getPointer();
    lsp::Range range = lines.rangeOf(StringRef(begin, token.end() - begin));
    bool isNextLine = range.start.line > last.line;
    result.insert(result.end(),
                  {range.start.line - last.line,
                   range.start.character - (isNextLine ? 0 : last.character),
                   range.end.character - range.start.character, word->kind,
                   word->marks});
    last = range.start;
  }
  return result;
}

std::vector<Highlight>
fovea::editors::highlightsAt(const Analysis &analysis,
                             const lsp::Position &position) {
  std::vector<Highlight> result;
  const Lines &lines = analysis.lines();
  const Names &names = analysis.names();
  const Occurrence *name =
      names.at(lines.text().begin() + lines.offsetOf(position));
  if (!name || !lines.contains(name->text.begin()))
    return result;
  const Declaration &declaration = names.declarations()[name->declaration];
  for (const Occurrence &other : names.occurrences())
    if (other.declaration == name->declaration &&
        lines.contains(other.text.begin()))
      result.push_back(
          {lines.rangeOf(other.text), declares(declaration, other.text)});
  return result;
}
