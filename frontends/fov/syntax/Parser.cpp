//===- Parser.cpp - tokens, errors and recovery ---------------------------===//
//
// What all rules of the grammar share: where a line end counts, how a mistake
// is worded and where parsing goes on after it.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/syntax/Parser.h"

#include "frontends/fov/syntax/ParserImpl.h"

using namespace fovea;
using namespace fovea::ast;
using namespace llvm;

/// Nested deeper, neither the parser nor the tree that it makes would be safe
/// to recurse over.
static constexpr unsigned deepest = 256;

/// More tokens than any model has. Bounds the memory of a parse.
static constexpr size_t mostTokens = 1000000;

std::unique_ptr<ast::File> fovea::parse(StringRef text,
                                        Diagnostics &diagnostics) {
  auto file = std::make_unique<ast::File>();
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    diagnostics.error(SMLoc::getFromPointer(text.begin()),
                      "the file is UTF-16, not UTF-8");
    return file;
  }
  Parser(text, *file, diagnostics).parseFile();
  return file;
}

Parser::Parser(StringRef text, ast::File &file, Diagnostics &diagnostics)
    : file(file), diagnostics(diagnostics), lexer(text, diagnostics),
      lastEnd(text.begin()) {
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
  if (!last.isAny(Token::Newline, Token::EndOfFile))
    lastEnd = last.end();
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
    diagnostics.error(token.loc(), "the file has more than " +
                                       std::to_string(mostTokens) +
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

std::nullptr_t Parser::fail(SMLoc loc, const Twine &text,
                            std::vector<Diagnostics::Note> notes) {
  // A file that was cut at `mostTokens` has no further mistakes.
  if (taken < mostTokens)
    diagnostics.error(loc, text.str(), std::move(notes));
  return nullptr;
}

/// Where something is missing: at the current token, or after the last one when
/// the current is on a later line.
SMLoc Parser::gap() const {
  bool isLater =
      token.newlineBefore || token.isAny(Token::Newline, Token::EndOfFile);
  return isLater ? SMLoc::getFromPointer(lastEnd) : token.loc();
}

/// ", found TOKEN", with its line when that is a later one.
std::string Parser::found() const {
  std::string text = ", found " + describe(token);
  if (token.newlineBefore && !at(Token::EndOfFile))
    text += " (line " + std::to_string(diagnostics.lineOf(token.loc())) + ")";
  return text;
}

std::nullptr_t Parser::expected(const Twine &what, ArrayRef<StringRef> words) {
  if (at(Token::Bad))
    return fail(token.loc(), explain(token));
  std::string text = ("expected " + what + found()).str();
  StringRef meant = at(Token::Name) ? nearest(token.text, words) : StringRef();
  if (!meant.empty())
    text += "; did you mean '" + meant.str() + "'?";
  return fail(gap(), text);
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
  fail(gap(),
       "expected '" + sign + "' to close '" + opening.text + "'" + found(),
       {{opening.loc(), "'" + opening.text.str() + "' is here"}});
  return false;
}

bool Parser::name(StringRef &name, SMLoc &loc, const Twine &what) {
  if (!at(Token::Name)) {
    if (token.isKeyword())
      fail(token.loc(), "expected " + what + ", found " + describe(token) +
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
    fail(loc, "'" + name +
                  "' is a reduction of the language; its name cannot "
                  "be defined");
  return !isReducer(name);
}

Parser::Begin Parser::begin() {
  // What is wrong with the first token is said there, not on the line above.
  token.newlineBefore = false;
  return {open.size(), openBraces, lineColumn, token.text.data()};
}

void Parser::skip(const Begin &begin, bool commaEnds) {
  while (!at(Token::EndOfFile)) {
    // A line that begins where the statement did, or left of it, is taken for
    // the next one although a bracket is open: nobody writes so otherwise.
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
  // Whoever calls again without a token taken would not come to an end.
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
  fail(token.loc(), "nested more than " + Twine(deepest) + " deep");
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
    return fail(expr->loc, "nested more than " + Twine(deepest) +
                               " deep; give a part of the expression a name");
  return expr;
}
