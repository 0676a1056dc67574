//===- Parser.cpp - tokens, errors and recovery ---------------------------===//
//
// Shared by all grammar rules: where line ends count, how errors are worded,
// and where parsing resumes after one.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/syntax/Parser.h"

#include "frontends/fov/ForeignWords.h"
#include "frontends/fov/Options.h"
#include "frontends/fov/syntax/ParserImpl.h"

using namespace fovea;
using namespace fovea::ast;
using namespace llvm;

/// Deeper nesting would make recursion unsafe, in the parser and over its
/// tree.
static constexpr unsigned deepest = 256;

/// More tokens than any model has. Bounds the memory of a parse.
static constexpr size_t mostTokens = 1000000;

std::unique_ptr<ast::File> fovea::parse(StringRef text,
                                        Diagnostics &diagnostics) {
  auto file = std::make_unique<ast::File>();
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    diagnostics.error(Code::notUtf8, SMLoc::getFromPointer(text.begin()),
                      "the file is UTF-16, not UTF-8");
    return file;
  }
  Parser(text, *file, diagnostics).parseFile();
  return file;
}

Parser::Parser(StringRef text, ast::File &file, Diagnostics &diagnostics)
    : file(file), diagnostics(diagnostics), text(text),
      lexer(text, diagnostics), lastEnd(text.begin()) {
  token = lexer.next();
  following = lexer.next();
  lineColumn = token.column;
  token.newlineBefore = false;
}

void Parser::parseFile() {
  if (take(Token::keyword_model)) {
    if (!name(file.model, file.modelLoc, "the name of the model") ||
        !atStatementEnd()) {
      if (!file.model.empty())
        expected("';' or a new line");
      skip({0, 0, 0, nullptr}, /*commaEnds=*/false);
    }
  } else {
    expected("'model NAME' at the start of the file", {"model"});
    if (at(Token::Name) && following.is(Token::Name))
      skip({0, 0, 0, nullptr}, /*commaEnds=*/false);
  }
  SmallVector<Statement *, 0> statements;
  parseStatements(statements, /*inDef=*/false);
  file.statements.assign(statements.begin(), statements.end());
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

Token Parser::advance() {
  Token last = token;
  if (!last.isAny(Token::Newline, Token::EndOfFile)) {
    lastEnd = last.end();
    previous = last;
  }
  if (last.is(Token::EndOfFile))
    return last;

  auto closes = [&](char bracket) {
    if (open.empty() || open.back() != bracket)
      return;
    open.pop_back();
    openBraces -= bracket == '{';
  };
  switch (last.kind) {
  case Token::ParenOpen:
  case Token::BracketOpen:
  case Token::BraceOpen:
    open.push_back(last.text.front());
    openBraces += last.is(Token::BraceOpen);
    break;
  case Token::ParenClose:
    closes('(');
    break;
  case Token::BracketClose:
    closes('[');
    break;
  case Token::BraceClose:
    closes('{');
    break;
  default:
    break;
  }

  bool lineMatters = open.empty() || open.back() == '{';
  if (following.newlineBefore && lineMatters && !last.is(Token::Newline) &&
      !last.is(Token::Comma) && !last.isBinaryOperator()) {
    token = Token();
    token.kind = Token::Newline;
    token.text = StringRef(lastEnd, 0);
    return last;
  }
  token = following;
  if (token.newlineBefore)
    lineColumn = token.column;
  if (++taken == mostTokens && !token.is(Token::EndOfFile)) {
    diagnostics.error(Code::tooLarge, token.loc(),
                      "the file has more than " + std::to_string(mostTokens) +
                          " words and signs; no model is that "
                          "long");
    token.kind = Token::EndOfFile;
    token.text = StringRef(token.text.begin(), 0);
  }
  if (!token.is(Token::EndOfFile))
    following = lexer.next();
  return last;
}

bool Parser::take(Kind kind) {
  if (!at(kind))
    return false;
  advance();
  return true;
}

bool Parser::atStatementEnd() const {
  return token.isAny(Token::Newline, Token::Semicolon, Token::EndOfFile,
                     Token::BraceClose);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::nullptr_t Parser::fail(Code code, SMLoc loc, const Twine &text,
                            std::vector<Diagnostics::Note> notes) {
  // A file cut off at `mostTokens` gets no further errors.
  if (taken < mostTokens)
    diagnostics.error(code, loc, text.str(), std::move(notes));
  return nullptr;
}

/// The place of a missing token: at the current token, or after the last one if
/// the current is on a later line.
SMLoc Parser::gap() const {
  bool isLater =
      token.newlineBefore || token.isAny(Token::Newline, Token::EndOfFile);
  return isLater ? SMLoc::getFromPointer(lastEnd) : token.loc();
}

/// ", found TOKEN", with its line if that is a later one.
std::string Parser::found() const {
  std::string text = ", found " + describe(token);
  if (token.newlineBefore && !at(Token::EndOfFile))
    text += " (line " + std::to_string(diagnostics.lineOf(token.loc())) + ")";
  return text;
}

std::nullptr_t Parser::expected(const Twine &what, ArrayRef<StringRef> words) {
  if (at(Token::Bad)) {
    bool isAdjacent = taken > 0 && token.text.data() == lastEnd;
    return fail(Code::badCharacter, token.loc(),
                explain(token, isAdjacent ? lastEnd[-1] : '\0'));
  }
  std::string text = ("expected " + what + found()).str();
  StringRef meant = at(Token::Name) ? nearest(token.text, words) : StringRef();
  if (!meant.empty())
    text += "; did you mean '" + meant.str() + "'?";
  else
    text += foreignHelp();
  return fail(Code::expectedToken, gap(), text);
}

/// The help for a foreign token that ends an expression too early.
std::string Parser::foreignHelp() const {
  bool isInBracket = !open.empty() && open.back() == '[';
  bool followsValue =
      previous.isAny(Token::Name, Token::Integer, Token::Real) ||
      previous.isAny(Token::ParenClose, Token::BracketClose);
  if (token.newlineBefore || (!followsValue && !isInBracket))
    return "";
  switch (token.kind) {
  case Token::Colon:
    return isInBracket ? "; help: there are no slices; an index runs over its "
                         "whole axis, and last axes are left out: x[i] is row "
                         "i of x"
                       : "";
  case Token::Semicolon:
    return isInBracket ? "; help: write a ++ b to join two vectors" : "";
  case Token::Equal:
  case Token::keyword_in:
    return isInBracket ? "; help: write i < N for the range of an index, x[0] "
                         "for one place"
                       : "";
  case Token::keyword_if:
    return "; help: write if c then a else b";
  case Token::keyword_where:
    return "; help: a condition belongs in a reduction, sum[i where c](x[i]), "
           "or write if c then a else b";
  case Token::BraceOpen:
    return previous.is(Token::Integer)
               ? "; help: write if c then 1 else 0"
               : "; help: write an index in brackets: x[i]";
  case Token::BracketOpen:
    return "; help: sizes belong in parentheses: matrix(n, m)";
  case Token::Name:
    if (token.text == "for")
      return "; help: write an index: y[i] = f(x[i]), or sum[i](x[i])";
    [[fallthrough]];
  case Token::Integer:
  case Token::Real:
    if (isInBracket)
      return "";
    if (previous.is(Token::Name) &&
        is_contained(fov::builtinNames(), previous.text))
      return ("; help: write the argument in parentheses: " + previous.text +
              "(x)")
          .str();
    return "; help: write a sign between them: a * b for numbers and "
           "elements, W @ x for a matrix, f(x) for a function";
  default:
    return "";
  }
}

bool Parser::expect(Kind kind, const Twine &what) {
  if (take(kind))
    return true;
  expected(what);
  return false;
}

bool Parser::close(Kind kind, const Token &opening) {
  if (take(kind))
    return true;
  if (at(Token::Bad)) {
    expected("");
    return false;
  }
  StringRef sign = kind == Token::ParenClose     ? ")"
                   : kind == Token::BracketClose ? "]"
                                                 : "}";
  fail(Code::unclosedBracket, gap(),
       "expected '" + sign + "' to close '" + opening.text + "'" + found() +
           foreignHelp(),
       {{opening.loc(), "'" + opening.text.str() + "' is here"}});
  return false;
}

bool Parser::name(StringRef &name, SMLoc &loc, const Twine &what) {
  if (!at(Token::Name)) {
    if (token.isKeyword())
      fail(Code::reservedName, token.loc(),
           "expected " + what + ", found " + describe(token) +
               ", a word of the language");
    else
      expected(what);
    return false;
  }
  loc = token.loc();
  name = advance().text;
  return true;
}

bool Parser::newName(StringRef &name, SMLoc &loc, const Twine &what) {
  return this->name(name, loc, what) && isDefinable(name, loc);
}

bool Parser::isDefinable(StringRef name, SMLoc loc) {
  if (isReducer(name))
    fail(Code::reservedName, loc,
         "'" + name +
             "' is a reduction of the language; its name cannot "
             "be defined");
  return !isReducer(name);
}

Parser::Begin Parser::begin() {
  // Errors in the first token are reported there, not on the line above.
  token.newlineBefore = false;
  return {open.size(), openBraces, lineColumn, token.text.data()};
}

void Parser::skip(const Begin &begin, bool commaEnds) {
  while (!at(Token::EndOfFile)) {
    // A line that begins at or left of the statement's start is the next one,
    // even if a bracket is open: nobody indents otherwise.
    bool inBrace = openBraces > begin.braces;
    bool inBracket = open.size() > begin.depth;
    bool isStart =
        token.newlineBefore && token.text.data() != begin.at &&
        (token.beginsStatement() || (token.is(Token::Name) && !inBrace)) &&
        token.column <= begin.column;
    bool isEnd =
        !inBracket &&
        (at(Token::Newline) || at(commaEnds ? Token::Comma : Token::Semicolon));
    if (isStart || isEnd || (at(Token::BraceClose) && !inBrace)) {
      open.truncate(std::min(open.size(), begin.depth));
      openBraces = std::min(openBraces, begin.braces);
      break;
    }
    advance();
  }
  // Repeated calls without a consumed token would never end.
  if (token.text.data() == begin.at &&
      !token.isAny(Token::EndOfFile, Token::Newline))
    advance();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

bool Parser::nest() {
  if (depth <= deepest)
    return true;
  fail(Code::tooLarge, token.loc(),
       "nested more than " + Twine(deepest) + " deep");
  return false;
}

Expr *Parser::create(ExprKind kind, SMLoc loc, const char *begin,
                     ArrayRef<Expr *> args) {
  Expr *expr = new (file.arena) Expr();
  expr->kind = kind;
  expr->loc = loc;
  expr->range =
      SMRange(SMLoc::getFromPointer(begin), SMLoc::getFromPointer(lastEnd));
  expr->args = args.copy(file.arena);
  return expr;
}

Expr *Parser::finish(Expr *expr) {
  unsigned height = 0;
  auto count = [&](const Expr *part) {
    if (part)
      height = std::max(height, part->height);
  };
  for (const Expr *arg : expr->args)
    count(arg);
  for (const Item &item : expr->items)
    count(item.value);
  for (const Binder &binder : expr->binders)
    count(binder.extent);
  count(expr->condition);
  expr->height = height + 1;
  if (expr->height > deepest)
    return fail(Code::tooLarge, expr->loc,
                "nested more than " + Twine(deepest) +
                    " deep; help: give a part of the expression a name");
  return expr;
}
