//===- ParseStatements.cpp - the statements of the grammar ----------------===//
//
// Which statement it is, equations, choices and the blocks of options.
// Declarations are ParseDeclarations.cpp.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/ForeignWords.h"
#include "frontends/fov/syntax/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"

using namespace fovea;
using namespace fovea::ast;
using namespace llvm;

static constexpr StringRef statementWords[] = {
#define STATEMENT(word) #word,
#include "frontends/fov/syntax/Tokens.def"
};

Statement *Parser::create(StatementKind kind, SMLoc loc) {
  Statement *statement = new (file.arena) Statement();
  statement->kind = kind;
  statement->loc = loc;
  return statement;
}

void Parser::parseStatements(Statements &out, bool inDef) {
  while (true) {
    while (token.isAny(Token::Newline, Token::Semicolon))
      advance();
    if (at(Token::EndOfFile) || (inDef && at(Token::BraceClose)))
      return;
    if (!inDef && at(Token::keyword_model)) {
      file.rest = text.drop_front(token.text.begin() - text.begin());
      return;
    }
    Begin start = begin();
    size_t before = out.size();
    bool right = parseStatement(out, inDef);
    SMRange range(SMLoc::getFromPointer(start.at),
                  SMLoc::getFromPointer(lastEnd));
    for (Statement *statement : drop_begin(out, before))
      statement->range = range;
    // A } ends the last statement of a def; elsewhere it is unmatched.
    if (right && (!atStatementEnd() || (at(Token::BraceClose) && !inDef))) {
      if (token.isAny(Token::ParenClose, Token::BracketClose,
                      Token::BraceClose))
        fail(Code::closesNothing, token.loc(),
             describe(token) + " closes nothing");
      else
        expected("';' or a new line");
      right = false;
    }
    if (!right)
      skip(start, /*commaEnds=*/false);
  }
}

bool Parser::parseStatement(Statements &out, bool inDef) {
  Token first = token;
  switch (first.kind) {
  case Token::keyword_dim:
    return parseConstants(out, StatementKind::Dim);
  case Token::keyword_const:
    return parseConstants(out, StatementKind::Const);
  case Token::keyword_vocab:
    return parseVocab(out);
  case Token::keyword_data:
    return parseData(out);
  case Token::keyword_param:
    return parseParam(out, /*isState=*/false);
  case Token::keyword_length:
    return parseLength(out);
  case Token::keyword_def:
    return parseDef(out);
  case Token::keyword_use:
    return parseUse(out);
  case Token::keyword_metric:
    return parseMetric(out);
  case Token::keyword_train:
  case Token::keyword_decode:
    return parseBlock(out);
  case Token::keyword_guide:
    advance();
    return parseEquation(out, /*guide=*/true);
  case Token::Name:
    // Words only here: a name may be called `state`.
    if (following.is(Token::Name) && !following.newlineBefore) {
      if (first.text == "state")
        return parseParam(out, /*isState=*/true);
      if (first.text == "update")
        return parseUpdate(out);
    }
    return parseEquation(out, /*guide=*/false);
  case Token::keyword_penalty: {
    advance();
    Statement *statement = create(StatementKind::Penalty, first.loc());
    out.push_back(statement);
    statement->value = parseExpr();
    return statement->value != nullptr || (out.pop_back(), false);
  }
  case Token::keyword_return: {
    if (!inDef) {
      fail(Code::misplacedStatement, first.loc(),
           "'return' belongs in the braces of a def");
      return false;
    }
    advance();
    List<Expr *> values;
    if (!parseExprs(values))
      return false;
    Statement *statement = create(StatementKind::Return, first.loc());
    statement->values = keep(values);
    out.push_back(statement);
    return true;
  }
  case Token::keyword_model:
    fail(Code::misplacedStatement, first.loc(), "a def cannot hold a model");
    return false;
  case Token::keyword_set:
    fail(Code::misplacedStatement, first.loc(), "'set' belongs in decode { }");
    return false;
  case Token::ParenClose:
  case Token::BracketClose:
  case Token::BraceClose:
    fail(Code::closesNothing, first.loc(), describe(first) + " closes nothing");
    return false;
  default: {
    bool isComment =
        first.isAny(Token::SlashSlash, Token::Slash, Token::String) ||
        (first.is(Token::Minus) && following.is(Token::Minus)) ||
        (first.is(Token::Bad) && (first.text == "%" || first.text == "'"));
    std::string foreign = fov::ourWord(first.text, fov::WordPlace::Statement);
    if (isComment)
      fail(Code::unknownStatement, first.loc(),
           "a statement cannot begin with " + describe(first) +
               "; help: a comment begins with '#'");
    else if (first.isBinaryOperator())
      fail(Code::unknownStatement, first.loc(),
           "a statement cannot begin with " + describe(first) +
               "; to continue a line, end it with the operator");
    else if (!foreign.empty())
      fail(Code::unknownStatement, first.loc(),
           describe(first) + " does not begin a statement" + foreign);
    else
      expected("a statement");
    return false;
  }
  }
}

/// "update" left "=" expr
bool Parser::parseUpdate(Statements &out) {
  Statement *statement = create(StatementKind::Update, advance().loc());
  List<Left> lefts;
  if (!parseLeft(lefts.emplace_back()))
    return false;
  statement->lefts = keep(lefts);
  if (!take(Token::Equal)) {
    expected("'='");
    return false;
  }
  statement->value = parseExpr();
  if (!statement->value)
    return false;
  out.push_back(statement);
  return true;
}

//===----------------------------------------------------------------------===//
// Equations and choices
//===----------------------------------------------------------------------===//

/// equation = left { "," left } "=" expr
/// choice = [ "guide" ] left "~" expr
bool Parser::parseEquation(Statements &out, bool guide) {
  Token first = token;
  Statement *statement = create(StatementKind::Equation, first.loc());
  List<Left> lefts;
  // `parm x : ..`: a word that no equation begins with.
  if (!guide && following.isAny(Token::Name, Token::BraceOpen) &&
      !following.newlineBefore) {
    std::string help = fov::ourWord(first.text, fov::WordPlace::Statement);
    bool isSubscript =
        first.text.ends_with("_") && following.is(Token::BraceOpen);
    fail(Code::unknownStatement, first.loc(),
         isSubscript
             ? quoted(first.text) + " has a subscript in braces; "
                                    "help: write an index in "
                                    "brackets: x[i]"
             : quoted(first.text) + " does not begin a statement" +
                   (help.empty() ? suggestion(first.text, statementWords)
                                 : help));
    return false;
  }
  do {
    if (!parseLeft(lefts.emplace_back()))
      return false;
  } while (take(Token::Comma));
  statement->lefts = keep(lefts);

  if (at(Token::Tilde)) {
    if (lefts.size() > 1) {
      fail(Code::equationSign, token.loc(),
           "'~' has one name on its left, not " + Twine(lefts.size()));
      return false;
    }
    statement->kind = StatementKind::Choice;
    statement->guide = guide;
  } else if (guide) {
    expected("'~' after 'guide " + first.text + "'");
    return false;
  } else if (at(Token::Colon) && following.is(Token::Equal)) {
    fail(Code::equationSign, token.loc(),
         "expected '=' or '~', found ':='; help: write '='");
    return false;
  } else if (at(Token::Colon)) {
    fail(Code::equationSign, token.loc(),
         "expected '=' or '~', found ':'; a declaration begins "
         "with 'data' or 'param'");
    return false;
  } else if (at(Token::EqualEqual)) {
    fail(Code::equationSign, token.loc(),
         "expected '=' or '~', found '=='; did you mean '='?");
    return false;
  } else if (!at(Token::Equal)) {
    std::string help = equationHelp(first, lefts.back());
    if (help.empty())
      expected("'=' or '~'");
    else
      fail(Code::equationSign, gap(), "expected '=' or '~'" + found() + help);
    return false;
  }
  advance();
  statement->value = parseExpr();
  if (!statement->value)
    return false;
  out.push_back(statement);
  return true;
}

/// The help if no sign follows the left side `left` of a statement that begins
/// with `first`.
std::string Parser::equationHelp(const Token &first, const Left &left) const {
  if (std::string help = fov::ourWord(first.text, fov::WordPlace::Statement);
      !help.empty())
    return help;
  switch (token.kind) {
  case Token::ParenOpen:
    return ("; help: write " + left.name + "[i] = ... for an equation, def " +
            left.name + "(x) = ... for a function")
        .str();
  case Token::BracketOpen:
    return ("; help: write all indices in one pair of brackets: " + left.name +
            "[i,j]")
        .str();
  case Token::Dot:
    return "; help: a statement gives a name without a prefix, and calls "
           "nothing";
  case Token::Less:
    return following.is(Token::Minus) ? "; help: write '='" : "";
  case Token::Plus:
  case Token::Minus:
  case Token::Star:
    return following.is(Token::Equal)
               ? ("; help: write a recurrence: " + left.name +
                  "[t] = " + left.name + "[t-1] " + token.text + " x[t]")
                     .str()
               : "";
  case Token::Caret:
    return ("; help: write an index in brackets: " + left.name + "[i]").str();
  default:
    return "";
  }
}

/// left = NAME [ "[" place { "," place } "]" ]
bool Parser::parseLeft(Left &left) {
  return newName(left.name, left.loc, "a name") && parsePlaces(left);
}

bool Parser::parsePlaces(Left &left) {
  return parseBrackets(left.places,
                       [&](Place &place) { return parsePlace(place); });
}

/// place = NAME "<" arith | expr
bool Parser::parsePlace(Place &place) {
  place.loc = token.loc();
  if (!at(Token::Name) || !following.is(Token::Less))
    return (place.value = parseExpr());
  place.value = parseName("an index");
  advance();
  return (place.bound = parseArith());
}

//===----------------------------------------------------------------------===//
// Blocks of options
//===----------------------------------------------------------------------===//

/// block = ( "train" | "decode" ) "{" { entry [ "," ] } "}"
bool Parser::parseBlock(Statements &out) {
  Token first = advance();
  Statement *statement = create(StatementKind::Block, first.loc());
  statement->name = first.text;
  statement->nameLoc = first.loc();
  Token opening = token;
  if (!at(Token::BraceOpen)) {
    fail(Code::expectedToken, gap(),
         "expected '{' after '" + first.text + "'" + found() +
             "; help: write " + first.text +
             (first.text == "train" ? " { optimiser = adam }"
                                    : " { beam = 4 }"));
    return false;
  }
  advance();
  List<Entry> entries;
  while (!token.isAny(Token::BraceClose, Token::EndOfFile)) {
    if (take(Token::Newline) || take(Token::Comma))
      continue;
    if (at(Token::Semicolon)) {
      fail(Code::blockEntry, advance().loc(),
           "the entries of " + first.text +
               " { } are separated by ',' or a new line");
      continue;
    }
    Begin start = begin();
    if (Entry *entry = parseEntry())
      entries.push_back(*entry);
    else
      skip(start, /*commaEnds=*/true);
  }
  statement->entries = keep(entries);
  if (!close(Token::BraceClose, opening))
    return false;
  out.push_back(statement);
  return true;
}

/// entry = left "=" expr | left "~" expr | ("set" | "generate") left "=" expr
Entry *Parser::parseEntry() {
  Entry *entry = new (file.arena) Entry();
  entry->kind = Entry::Option;
  if (take(Token::keyword_set)) {
    entry->kind = Entry::Set;
  } else if (at(Token::Name) && token.text == "generate" &&
             following.is(Token::Name) && !following.newlineBefore) {
    // A word only here: a name may be called `generate`.
    advance();
    entry->kind = Entry::Generate;
  }
  // An option may have the name of a reducer.
  Left &left = entry->left;
  if (at(Token::keyword_metric) || at(Token::keyword_penalty))
    return fail(Code::blockEntry, token.loc(),
                describe(token) + " is not an option; help: write "
                                  "it as a statement of its own");
  if (!name(left.name, left.loc, "a name") || !parsePlaces(left))
    return nullptr;
  if (at(Token::Tilde) && entry->kind == Entry::Option) {
    advance();
    entry->kind = Entry::Treatment;
  } else if (at(Token::Colon)) {
    return fail(Code::equationSign, token.loc(),
                "expected '=' or '~', found ':'; help: write " + left.name +
                    " = ...");
  } else if (!take(Token::Equal)) {
    return expected(entry->kind == Entry::Option ? "'=' or '~'" : "'='");
  }
  entry->value = parseExpr();
  return entry->value ? entry : nullptr;
}
