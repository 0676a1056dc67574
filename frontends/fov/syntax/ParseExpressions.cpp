//===- ParseExpressions.cpp - the expressions of the grammar --------------===//
//
// From the loosest operator to the tightest, as docs/LANGUAGE.md lists them.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/syntax/ParserImpl.h"

#include <charconv>

using namespace fovea;
using namespace fovea::ast;
using namespace llvm;

/// expr = "if" expr "then" expr "else" expr | disj
Expr *Parser::parseExpr() {
  SaveAndRestore level(depth, depth + 1);
  if (!nest())
    return nullptr;
  return at(Token::keyword_if) ? parseIf() : parseDisjunction();
}

Expr *Parser::parseIf() {
  Token first = advance();
  Expr *condition = parseExpr();
  if (!condition)
    return nullptr;
  if (at(Token::Colon))
    return fail(Code::expectedToken, token.loc(),
                "expected 'then', found ':'; help: write if c "
                "then a else b");
  if (!take(Token::keyword_then))
    return expected("'then'", {"then"});
  Expr *yes = parseExpr();
  if (!yes)
    return nullptr;
  if (atStatementEnd() || at(Token::ParenClose))
    return fail(Code::ifForm, gap(),
                "expected 'else'" + found() +
                    "; help: an 'if' has two branches: write if c then "
                    "a else 0");
  if (!take(Token::keyword_else))
    return expected("'else'", {"else"});
  Expr *no = parseExpr();
  if (!no)
    return nullptr;
  return finish(create(ExprKind::If, first.loc(), first.text.begin(),
                       {condition, yes, no}));
}

template <typename Operand>
Expr *Parser::parseChain(Operand operand,
                         ArrayRef<std::pair<Kind, Op>> operators) {
  const char *begin = token.loc().getPointer();
  Expr *left = operand();
  while (left) {
    const auto *found =
        find_if(operators, [&](auto &entry) { return at(entry.first); });
    if (found == operators.end())
      return left;
    SMLoc loc = advance().loc();
    Expr *right = operand();
    if (!right)
      return nullptr;
    left = create(ExprKind::Binary, loc, begin, {left, right});
    left->op = found->second;
    left = finish(left);
  }
  return nullptr;
}

/// disj = conj { "or" conj }
Expr *Parser::parseDisjunction() {
  return parseChain([&] { return parseConjunction(); },
                    {{Token::keyword_or, Op::Or}});
}

/// conj = neg { "and" neg }
Expr *Parser::parseConjunction() {
  return parseChain([&] { return parseNegation(); },
                    {{Token::keyword_and, Op::And}});
}

template <typename Operand>
Expr *Parser::parsePrefix(Op op, Operand parseOperand) {
  Token first = advance();
  Expr *operand = parseOperand();
  if (!operand)
    return nullptr;
  Expr *expr =
      create(ExprKind::Unary, first.loc(), first.text.begin(), {operand});
  expr->op = op;
  return finish(expr);
}

/// neg = [ "not" ] compare
Expr *Parser::parseNegation() {
  return at(Token::keyword_not)
             ? parsePrefix(Op::Not, [&] { return parseComparison(); })
             : parseComparison();
}

/// compare = joined { ("<" | "<=" | ">" | ">=" | "==" | "!=") joined }
Expr *Parser::parseComparison() {
  static constexpr std::pair<Kind, Op> operators[] = {
      {Token::Less, Op::Less},        {Token::LessEqual, Op::LessEqual},
      {Token::Greater, Op::Greater},  {Token::GreaterEqual, Op::GreaterEqual},
      {Token::EqualEqual, Op::Equal}, {Token::NotEqual, Op::NotEqual}};
  const char *begin = token.loc().getPointer();
  Expr *first = parseJoined();
  if (!first)
    return nullptr;
  List<Expr *> args = {first};
  List<Op> ops;
  SMLoc loc;
  while (true) {
    const auto *found =
        find_if(operators, [&](auto &entry) { return at(entry.first); });
    if (found == std::end(operators))
      break;
    SMLoc here = advance().loc();
    loc = ops.empty() ? here : loc;
    Expr *next = parseJoined();
    if (!next)
      return nullptr;
    args.push_back(next);
    ops.push_back(found->second);
  }
  if (ops.empty())
    return first;
  Expr *expr = create(ExprKind::Compare, loc, begin, args);
  expr->op = ops.front();
  expr->ops = keep(ops);
  return finish(expr);
}

/// joined = arith { "++" arith }
Expr *Parser::parseJoined() {
  return parseChain([&] { return parseArith(); },
                    {{Token::PlusPlus, Op::Join}});
}

/// arith = term { ("+" | "-") term }
Expr *Parser::parseArith() {
  return parseChain([&] { return parseTerm(); },
                    {{Token::Plus, Op::Add}, {Token::Minus, Op::Sub}});
}

/// term = unary { ("*" | "/" | "//" | "mod" | "@") unary }
Expr *Parser::parseTerm() {
  return parseChain([&] { return parseUnary(); },
                    {{Token::Star, Op::Mul},
                     {Token::Slash, Op::Div},
                     {Token::SlashSlash, Op::FloorDiv},
                     {Token::keyword_mod, Op::Mod},
                     {Token::At, Op::MatMul}});
}

/// unary = [ "-" ] power
Expr *Parser::parseUnary() {
  return at(Token::Minus)
             ? parsePrefix(Op::Negate, [&] { return parsePower(); })
             : parsePower();
}

/// power = post [ "^" unary ]
Expr *Parser::parsePower() {
  const char *begin = token.loc().getPointer();
  Expr *base = parsePostfix();
  if (!base || !at(Token::Caret))
    return base;
  SMLoc loc = advance().loc();
  SaveAndRestore level(depth, depth + 1);
  Expr *exponent = nest() ? parseUnary() : nullptr;
  if (!exponent)
    return nullptr;
  Expr *expr = create(ExprKind::Binary, loc, begin, {base, exponent});
  expr->op = Op::Pow;
  return finish(expr);
}

/// post = primary { "." WORD | call_tail
///                | "[" expr { "," expr } "]" [ "??" unary ] }
Expr *Parser::parsePostfix() {
  const char *begin = token.loc().getPointer();
  Expr *expr = parsePrimary();
  while (expr) {
    if (take(Token::Dot)) {
      StringRef member;
      SMLoc loc;
      if (at(Token::Dot))
        return fail(Code::foreignSyntax, token.loc(),
                    "'..' is not part of the language; help: "
                    "write the range of an index as i < N");
      if (!at(Token::Name) && expr->kind == ExprKind::Integer)
        return fail(Code::badNumber, expr->loc,
                    "a number ends with a digit; help: write " +
                        Twine(expr->integer) + ".0");
      if (!name(member, loc, "a name after '.'"))
        return nullptr;
      expr = create(ExprKind::Member, loc, begin, {expr});
      expr->name = member;
    } else if (at(Token::ParenOpen)) {
      SMLoc loc = token.loc();
      ArrayRef<Item> items;
      if (!parseItems(items))
        return nullptr;
      expr = create(ExprKind::Call, loc, begin, {expr});
      expr->items = items;
    } else if (at(Token::BracketOpen)) {
      Token opening = advance();
      List<Expr *> args = {expr};
      if (!parseExprs(args) || !close(Token::BracketClose, opening))
        return nullptr;
      expr = create(ExprKind::Index, opening.loc(), begin, args);
      if (at(Token::Default))
        expr = parseDefault(finish(expr));
    } else if (at(Token::Default)) {
      return fail(Code::misplacedOtherwise, token.loc(),
                  "'\?\?' follows a read such as x[i]: it says what is read "
                  "outside of the range");
    } else {
      return expr;
    }
    expr = expr ? finish(expr) : nullptr;
  }
  return nullptr;
}

Expr *Parser::parseDefault(Expr *read) {
  if (!read)
    return nullptr;
  SMLoc loc = advance().loc();
  SaveAndRestore level(depth, depth + 1);
  Expr *otherwise = nest() ? parseUnary() : nullptr;
  if (!otherwise)
    return nullptr;
  return create(ExprKind::Default, loc, read->range.Start.getPointer(),
                {read, otherwise});
}

/// primary = NAME | "train" "." WORD | INT | REAL | STRING | "(" expr ")"
///         | "[" expr { "," expr } "]" | reduce
Expr *Parser::parsePrimary() {
  switch (token.kind) {
  case Token::Name: {
    Token first = advance();
    if (at(Token::BracketOpen) &&
        (isReducer(first.text) || isNormaliser(first.text)))
      return parseReduce(first);
    Expr *expr = create(ExprKind::Name, first.loc(), first.text.begin());
    expr->name = first.text;
    return expr;
  }
  case Token::keyword_true:
  case Token::keyword_false:
  case Token::keyword_inf: {
    Token first = advance();
    Expr *expr = create(ExprKind::Name, first.loc(), first.text.begin());
    expr->name = first.text;
    return expr;
  }
  case Token::keyword_train: {
    Token first = advance();
    StringRef value;
    SMLoc loc;
    if (!expect(Token::Dot, "'.' after 'train'") ||
        !name(value, loc, "a name after '.'"))
      return nullptr;
    Expr *expr = create(ExprKind::Train, first.loc(), first.text.begin());
    expr->name = value;
    return expr;
  }
  case Token::Integer:
  case Token::Real:
    return parseNumber();
  case Token::String:
    return parseString();
  case Token::ParenOpen: {
    Token opening = advance();
    Expr *expr = parseExpr();
    if (expr && at(Token::Comma))
      return fail(Code::listAsValue, token.loc(),
                  "a tuple is not a value; help: write a ++ b to join two "
                  "vectors, or give each value as an argument: f(a, b)",
                  {{opening.loc(), "the tuple begins here"}});
    if (!expr || !close(Token::ParenClose, opening))
      return nullptr;
    expr->range = SMRange(opening.loc(), SMLoc::getFromPointer(lastEnd));
    return expr;
  }
  case Token::BracketOpen: {
    Token opening = advance();
    List<Expr *> args;
    if (!parseExprs(args) || !close(Token::BracketClose, opening))
      return nullptr;
    return finish(
        create(ExprKind::List, opening.loc(), opening.text.begin(), args));
  }
  case Token::Dot:
    if (following.is(Token::Integer))
      return fail(Code::badNumber, token.loc(),
                  "a number starts with a digit: '0." +
                      following.text.take_front(20) + "'");
    if (following.is(Token::Dot))
      return fail(Code::foreignSyntax, token.loc(),
                  "'..' is not part of the language; help: name "
                  "the indices; last axes are left out: x[i] is "
                  "row i of x");
    return expected("an expression");
  case Token::Star:
    return fail(Code::foreignSyntax, token.loc(),
                previous.is(Token::Star)
                    ? "'**' is not part of the language; help: "
                      "write x^2"
                    : "expected an expression, found '*'");
  case Token::Tilde:
    return fail(Code::foreignSyntax, token.loc(),
                "expected an expression, found '~'; help: write not c");
  case Token::Greater:
    return fail(Code::foreignSyntax, token.loc(),
                previous.is(Token::Less)
                    ? "'<>' is not part of the language; help: write a != b"
                : previous.is(Token::Minus)
                    ? "'->' is not part of the language; help: write an "
                      "equation from left to right: y = f(x)"
                    : "expected an expression, found '>'");
  case Token::Equal:
    if (previous.is(Token::EqualEqual))
      return fail(Code::foreignSyntax, token.loc(),
                  "'===' is not part of the language; help: write a == b");
    return expected("an expression");
  case Token::keyword_where:
    return fail(Code::foreignSyntax, token.loc(),
                "expected an expression, found 'where'; help: "
                "write if c then a else b");
  case Token::Colon:
    return fail(Code::foreignSyntax, token.loc(),
                "expected an expression, found ':'; help: there "
                "are no slices; an index runs over its whole "
                "axis, and last axes are left out: x[i] is row i "
                "of x");
  case Token::keyword_if:
    return fail(Code::ifForm, token.loc(),
                "'if' within an expression needs "
                "parentheses: '(if .. then .. else ..)'");
  default:
    return expected("an expression");
  }
}

Expr *Parser::parseNumber() {
  Token number = advance();
  StringRef text = number.text;
  bool isInteger = number.is(Token::Integer);
  Expr *expr = create(isInteger ? ExprKind::Integer : ExprKind::Real,
                      number.loc(), text.begin());
  auto out = [&](StringRef range) {
    return fail(Code::badNumber, number.loc(),
                "the number " + quoted(text) + " is out of the range of " +
                    range);
  };
  // No distinguishable double or integer is longer.
  if (text.size() > 1000)
    return fail(Code::badNumber, number.loc(),
                "the number " + quoted(text) +
                    " has more than 1000 characters");
  if (isInteger) {
    if (text.getAsInteger(10, expr->integer))
      return out("integers of 64 bits");
  } else if (std::from_chars(text.begin(), text.end(), expr->real).ec !=
             std::errc()) {
    return out("numbers of 64 bits");
  }
  return expr;
}

Expr *Parser::parseString() {
  Token text = advance();
  Expr *expr = create(ExprKind::String, text.loc(), text.text.begin() - 1);
  expr->name = text.text;
  return expr;
}

/// reduce = ( REDUCER | NORMALISER ) "[" binder { "," binder }
///          [ "where" expr ] "]" call_tail
Expr *Parser::parseReduce(const Token &name) {
  Token opening = advance();
  List<Binder> binders;
  Expr *condition = nullptr;
  if (!parseList(binders, [&](Binder &binder) { return parseBinder(binder); }))
    return nullptr;
  if (take(Token::keyword_where) && !(condition = parseExpr()))
    return nullptr;
  if (at(Token::Name) && !condition)
    return expected("',', 'where' or ']'", {"where"});
  if (!close(Token::BracketClose, opening))
    return nullptr;
  ArrayRef<Item> items;
  if (!at(Token::ParenOpen))
    return expected("'(' after '" + name.text + "[..]'");
  if (!parseItems(items))
    return nullptr;
  Expr *expr = create(ExprKind::Reduce, name.loc(), name.text.begin());
  expr->name = name.text;
  expr->binders = keep(binders);
  expr->condition = condition;
  expr->items = items;
  return finish(expr);
}

/// binder = NAME [ "<" arith ]
bool Parser::parseBinder(Binder &binder) {
  binder.extent = nullptr;
  if (!name(binder.name, binder.loc, "the name of an index"))
    return false;
  return !take(Token::Less) || (binder.extent = parseArith());
}

/// call_tail = "(" [ item { "," item } ] ")"    item = [ NAME "=" ] expr
bool Parser::parseItems(ArrayRef<Item> &items) {
  Token opening = advance();
  List<Item> list;
  if (!at(Token::ParenClose)) {
    auto parseItem = [&](Item &item) {
      item = {StringRef(), token.loc(), nullptr};
      // Also a reserved word, as in `max(x, dim = 1)`: a later check finds
      // whether the argument exists.
      if ((at(Token::Name) || token.isKeyword()) &&
          following.is(Token::Equal)) {
        item.name = advance().text;
        advance();
      }
      return (item.value = parseExpr());
    };
    if (!parseList(list, parseItem))
      return false;
  }
  items = keep(list);
  return close(Token::ParenClose, opening);
}

bool Parser::parseExprs(SmallVectorImpl<Expr *> &list) {
  return parseList(list, [&](Expr *&expr) { return (expr = parseExpr()); });
}

Expr *Parser::parseName(const Twine &what) {
  StringRef text;
  SMLoc loc;
  if (!name(text, loc, what))
    return nullptr;
  Expr *expr = create(ExprKind::Name, loc, text.begin());
  expr->name = text;
  return expr;
}

/// path = NAME { "." WORD }
Expr *Parser::parsePath(const Twine &what) {
  Expr *expr = parseName(what);
  const char *begin = expr ? expr->range.Start.getPointer() : nullptr;
  while (expr && take(Token::Dot)) {
    StringRef member;
    SMLoc loc;
    if (!name(member, loc, "a name after '.'"))
      return nullptr;
    expr = create(ExprKind::Member, loc, begin, {expr});
    expr->name = member;
    expr = finish(expr);
  }
  return expr;
}

/// call = path { call_tail }
Expr *Parser::parseCall(const Twine &what) {
  Expr *expr = parsePath(what);
  const char *begin = expr ? expr->range.Start.getPointer() : nullptr;
  while (expr && at(Token::ParenOpen)) {
    SMLoc loc = token.loc();
    ArrayRef<Item> items;
    if (!parseItems(items))
      return nullptr;
    expr = create(ExprKind::Call, loc, begin, {expr});
    expr->items = items;
    expr = finish(expr);
  }
  return expr;
}
