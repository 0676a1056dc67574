//===- ParseStatements.cpp - the statements of the grammar ----------------===//
//
// Declarations, equations, choices and the blocks of options. What a name
// means is not asked here; only that the words stand in the right order.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"

using namespace fovea;
using namespace fovea::ast;
using namespace llvm;

static constexpr StringRef statementWords[] = {
#define STATEMENT(word) #word,
#include "frontends/fov/Tokens.def"
};

static constexpr StringRef typeWords[] = {"token", "sentence", "real",    "int",
                                          "bit",   "class",    "position"};

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
    Begin start = begin();
    size_t before = out.size();
    bool right = parseStatement(out, inDef);
    SMRange range(SMLoc::getFromPointer(start.at),
                  SMLoc::getFromPointer(lastEnd));
    for (Statement *statement : drop_begin(out, before))
      statement->range = range;
    // A } ends the last statement of a def; elsewhere it is one too many.
    if (right && (!atStatementEnd() || (at(Token::BraceClose) && !inDef))) {
      if (token.isAny(Token::ParenClose, Token::BracketClose,
                      Token::BraceClose))
        fail(token.loc(), describe(token) + " closes nothing");
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
    return parseParam(out);
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
      fail(first.loc(), "'return' stands only in the braces of a def");
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
    fail(first.loc(), "'model' stands once, at the start of the file");
    return false;
  case Token::keyword_set:
    fail(first.loc(), "'set' stands only in decode { } or train { }");
    return false;
  case Token::ParenClose:
  case Token::BracketClose:
  case Token::BraceClose:
    fail(first.loc(), describe(first) + " closes nothing");
    return false;
  default:
    if (first.isBinaryOperator())
      fail(first.loc(), "a statement cannot begin with " + describe(first) +
                            "; to continue a line, end it with the operator");
    else
      expected("a statement");
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// ( "dim" | "const" ) NAME "=" expr { "," NAME "=" expr }
bool Parser::parseConstants(Statements &out, StatementKind kind) {
  SMLoc first = advance().loc();
  do {
    Statement *statement = create(kind, first);
    if (!newName(statement->name, statement->nameLoc, "a name") ||
        !expect(Token::Equal, "'=' after '" + statement->name + "'"))
      return false;
    statement->value = parseExpr();
    if (!statement->value)
      return false;
    out.push_back(statement);
  } while (take(Token::Comma));
  return true;
}

/// "vocab" NAME [ ":" call ] { "," NAME [ ":" call ] }
bool Parser::parseVocab(Statements &out) {
  SMLoc first = advance().loc();
  do {
    Statement *statement = create(StatementKind::Vocab, first);
    if (!newName(statement->name, statement->nameLoc, "a name"))
      return false;
    if (take(Token::Colon) &&
        !(statement->value = parseCall("a kind of vocabulary")))
      return false;
    out.push_back(statement);
  } while (take(Token::Comma));
  return true;
}

/// "data" array { "," array } ":" type { "," array { "," array } ":" type }
bool Parser::parseData(Statements &out) {
  SMLoc first = advance().loc();
  do {
    List<Array> arrays;
    Type type;
    if (!parseArrays(arrays) || !parseType(type))
      return false;
    for (const Array &array : arrays) {
      Statement *statement = create(StatementKind::Data, first);
      statement->array = array;
      statement->type = type;
      out.push_back(statement);
    }
  } while (take(Token::Comma));
  return true;
}

/// "param" array { "," array } ":" call { "," array { "," array } ":" call }
bool Parser::parseParam(Statements &out) {
  SMLoc first = advance().loc();
  do {
    List<Array> arrays;
    if (!parseArrays(arrays))
      return false;
    Expr *module = parseCall("a module");
    if (!module)
      return false;
    for (const Array &array : arrays) {
      Statement *statement = create(StatementKind::Param, first);
      statement->array = array;
      statement->module = module;
      out.push_back(statement);
    }
  } while (take(Token::Comma));
  return true;
}

/// array { "," array } ":"
bool Parser::parseArrays(SmallVectorImpl<Array> &arrays) {
  do {
    if (!parseArray(arrays.emplace_back()))
      return false;
  } while (take(Token::Comma));
  return expect(Token::Colon,
                arrays.back().axes.empty()
                    ? "',', ':' or '[' after '" + arrays.back().name + "'"
                    : Twine("',' or ':' after the axes"));
}

/// array = NAME [ "[" axis { "," axis } "]" ]
bool Parser::parseArray(Array &array) {
  if (!newName(array.name, array.loc, "a name"))
    return false;
  if (!at(Token::BracketOpen))
    return true;
  Token opening = advance();
  List<Axis> axes;
  do {
    if (!parseAxis(axes.emplace_back()))
      return false;
  } while (take(Token::Comma));
  array.axes = keep(axes);
  return close(Token::BracketClose, opening);
}

/// axis = NAME "<" arith | NAME "in" "{" NAME { "," NAME } "}" | expr
bool Parser::parseAxis(Axis &axis) {
  axis.loc = token.loc();
  if (!at(Token::Name) || !following.isAny(Token::Less, Token::keyword_in))
    return (axis.extent = parseExpr());
  axis.binder = advance().text;
  if (take(Token::Less))
    return (axis.extent = parseArith());
  advance();
  Token opening = token;
  if (!expect(Token::BraceOpen, "'{' after 'in'"))
    return false;
  List<StringRef> labels;
  do {
    SMLoc loc;
    if (!name(labels.emplace_back(), loc, "a label"))
      return false;
  } while (take(Token::Comma));
  axis.labels = keep(labels);
  return close(Token::BraceClose, opening);
}

/// type = ( "token" | "sentence" ) [ "of" path ]
///      | "real" [ "(" expr { "," expr } ")" ] | "int" | "bit"
///      | "class" "(" ( expr | STRING { "," STRING } ) ")"
///      | "position" "(" NAME ")", each with [ "ends" ]
bool Parser::parseType(Type &type) {
  if (at(Token::Name) && !is_contained(typeWords, token.text)) {
    StringRef meant = nearest(token.text, typeWords);
    fail(token.loc(),
         quoted(token.text) + " is no type of data" +
             (meant.empty() ? " (" + join(ArrayRef(typeWords), ", ") + ")"
                            : "; did you mean '" + meant.str() + "'?"));
    return false;
  }
  if (!name(type.name, type.loc, "a type of data"))
    return false;

  if (type.name == "token" || type.name == "sentence") {
    if (at(Token::Name) && token.text == "of") {
      advance();
      if (!(type.of = parsePath("a vocabulary after 'of'")))
        return false;
    }
  } else if (at(Token::ParenOpen) && type.name != "int" && type.name != "bit") {
    Token opening = advance();
    List<Expr *> args;
    if (type.name == "position") {
      if (!args.emplace_back(parseName("the name of data")))
        return false;
    } else if (!parseExprs(args)) {
      return false;
    }
    type.args = keep(args);
    if (!close(Token::ParenClose, opening))
      return false;
  } else if (type.name == "class" || type.name == "position") {
    expected("'(' after '" + type.name + "'");
    return false;
  }

  if (at(Token::Name) && token.text == "ends") {
    advance();
    type.ends = true;
  } else if (at(Token::Name)) {
    expected("',', ';' or a new line", {"of", "ends"});
    return false;
  }
  return true;
}

/// "length" NAME "[" ( binder | expr ) "]" "=" expr
bool Parser::parseLength(Statements &out) {
  Statement *statement = create(StatementKind::Length, advance().loc());
  if (!newName(statement->name, statement->nameLoc, "a name"))
    return false;
  Token opening = token;
  if (!expect(Token::BracketOpen, "'[' after '" + statement->name + "'") ||
      !parsePlace(statement->place) || !close(Token::BracketClose, opening) ||
      !expect(Token::Equal, "'=' after '" + statement->name + "[..]'"))
    return false;
  statement->value = parseExpr();
  if (!statement->value)
    return false;
  out.push_back(statement);
  return true;
}

/// "def" NAME [ sizes ] "(" [ arg { "," arg } ] ")" ( "=" expr | "{" .. "}" )
bool Parser::parseDef(Statements &out) {
  Statement *statement = create(StatementKind::Def, advance().loc());
  SmallVector<Parameter> parameters;
  if (!newName(statement->name, statement->nameLoc, "a name") ||
      !parseParameters(parameters))
    return false;
  if (at(Token::ParenOpen)) {
    // The first parentheses were the sizes.
    List<StringRef> sizes;
    for (const Parameter &size : parameters) {
      if (size.hasShape) {
        fail(size.loc, "a size is a name without brackets");
        return false;
      }
      sizes.push_back(size.name);
    }
    if (sizes.empty()) {
      fail(token.loc(), "the sizes of '" + statement->name + "' are missing");
      return false;
    }
    statement->hasSizes = true;
    statement->sizes = keep(sizes);
    parameters.clear();
    if (!parseParameters(parameters))
      return false;
  }
  statement->parameters = keep(parameters);

  if (take(Token::Equal)) {
    statement->value = parseExpr();
    if (!statement->value)
      return false;
  } else if (at(Token::BraceOpen)) {
    Token opening = token;
    SaveAndRestore level(depth, depth + 1);
    if (!nest())
      return false;
    advance();
    SmallVector<Statement *> body;
    parseStatements(body, /*inDef=*/true);
    statement->body = keep(body);
    if (!close(Token::BraceClose, opening))
      return false;
  } else {
    expected("'=' or '{' after the arguments of '" + statement->name + "'");
    return false;
  }
  out.push_back(statement);
  return true;
}

/// "(" [ arg { "," arg } ] ")"    arg = NAME [ "[" NAME | INT {..} "]" ]
bool Parser::parseParameters(SmallVectorImpl<Parameter> &parameters) {
  Token opening = token;
  if (!expect(Token::ParenOpen, "'('"))
    return false;
  if (take(Token::ParenClose))
    return true;
  do {
    Parameter &parameter = parameters.emplace_back();
    if (!name(parameter.name, parameter.loc, "the name of an argument"))
      return false;
    if (!at(Token::BracketOpen))
      continue;
    Token bracket = advance();
    List<Expr *> shape;
    do {
      Expr *extent = at(Token::Integer) ? parseNumber()
                                        : parseName("a name or an integer");
      if (!extent)
        return false;
      shape.push_back(extent);
    } while (take(Token::Comma));
    parameter.hasShape = true;
    parameter.shape = keep(shape);
    if (!close(Token::BracketClose, bracket))
      return false;
  } while (take(Token::Comma));
  return close(Token::ParenClose, opening);
}

/// "use" NAME [ "=" NAME [ "(" NAME "=" NAME {..} ")" ] ] [ "from" STRING ]
///       [ "frozen" ]
bool Parser::parseUse(Statements &out) {
  Statement *statement = create(StatementKind::Use, advance().loc());
  SMLoc loc;
  if (!name(statement->model, loc, "the name of a model"))
    return false;
  statement->nameLoc = loc;
  if (take(Token::Equal)) {
    statement->name = statement->model;
    if (!isDefinable(statement->name, loc) ||
        !name(statement->model, loc, "the name of a model"))
      return false;
    if (at(Token::ParenOpen)) {
      Token opening = advance();
      List<Item> bindings;
      do {
        Item &binding = bindings.emplace_back();
        if (!name(binding.name, binding.loc, "the name of its data") ||
            !expect(Token::Equal, "'=' after '" + binding.name + "'") ||
            !(binding.value = parseName("a name")))
          return false;
      } while (take(Token::Comma));
      statement->bindings = keep(bindings);
      if (!close(Token::ParenClose, opening))
        return false;
    }
  }
  if (take(Token::keyword_from)) {
    if (!at(Token::String)) {
      expected("the name of a file in double quotes");
      return false;
    }
    statement->from = advance().text;
  }
  statement->frozen = take(Token::keyword_frozen);
  if (at(Token::Name)) {
    expected("';' or a new line", {"from", "frozen"});
    return false;
  }
  out.push_back(statement);
  return true;
}

/// "metric" ( call { "," call } | NAME "=" expr )
bool Parser::parseMetric(Statements &out) {
  SMLoc first = advance().loc();
  if (at(Token::Name) && following.is(Token::Equal)) {
    Statement *statement = create(StatementKind::Metric, first);
    if (!newName(statement->name, statement->nameLoc, "a name"))
      return false;
    advance();
    statement->value = parseExpr();
    if (!statement->value)
      return false;
    out.push_back(statement);
    return true;
  }
  do {
    Statement *statement = create(StatementKind::Metric, first);
    statement->value = parseCall("a metric");
    if (!statement->value)
      return false;
    out.push_back(statement);
  } while (take(Token::Comma));
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
    StringRef meant = nearest(first.text, statementWords);
    fail(first.loc(),
         quoted(first.text) + " begins no statement" +
             (meant.empty() ? "" : "; did you mean '" + meant.str() + "'?"));
    return false;
  }
  do {
    if (!parseLeft(lefts.emplace_back()))
      return false;
  } while (take(Token::Comma));
  statement->lefts = keep(lefts);

  if (at(Token::Tilde)) {
    if (lefts.size() > 1) {
      fail(token.loc(),
           "'~' has one name on its left, not " + Twine(lefts.size()));
      return false;
    }
    statement->kind = StatementKind::Choice;
    statement->guide = guide;
  } else if (guide) {
    expected("'~' after 'guide " + first.text + "'");
    return false;
  } else if (at(Token::Colon)) {
    fail(token.loc(), "expected '=' or '~', found ':'; a declaration begins "
                      "with 'data' or 'param'");
    return false;
  } else if (at(Token::EqualEqual)) {
    fail(token.loc(), "expected '=' or '~', found '=='; did you mean '='?");
    return false;
  } else if (!at(Token::Equal)) {
    expected("'=' or '~'");
    return false;
  }
  advance();
  statement->value = parseExpr();
  if (!statement->value)
    return false;
  out.push_back(statement);
  return true;
}

/// left = NAME [ "[" place { "," place } "]" ]
bool Parser::parseLeft(Left &left) {
  if (!newName(left.name, left.loc, "a name"))
    return false;
  if (!at(Token::BracketOpen))
    return true;
  Token opening = advance();
  List<Place> places;
  do {
    if (!parsePlace(places.emplace_back()))
      return false;
  } while (take(Token::Comma));
  left.places = keep(places);
  return close(Token::BracketClose, opening);
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
  if (!expect(Token::BraceOpen, "'{' after '" + first.text + "'"))
    return false;
  List<Entry> entries;
  while (!token.isAny(Token::BraceClose, Token::EndOfFile)) {
    if (take(Token::Newline) || take(Token::Comma))
      continue;
    if (at(Token::Semicolon)) {
      fail(advance().loc(), "what stands in " + first.text +
                                " { } is separated by ',' or a new line");
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

/// entry = left "=" expr | left "~" expr | "set" left "=" expr
Entry *Parser::parseEntry() {
  Entry *entry = new (file.arena) Entry();
  entry->kind = take(Token::keyword_set) ? Entry::Set : Entry::Option;
  // A name of an option may be that of a reducer.
  Left &left = entry->left;
  if (!name(left.name, left.loc, "a name"))
    return nullptr;
  if (at(Token::BracketOpen)) {
    Token opening = advance();
    List<Place> places;
    do {
      if (!parsePlace(places.emplace_back()))
        return nullptr;
    } while (take(Token::Comma));
    left.places = keep(places);
    if (!close(Token::BracketClose, opening))
      return nullptr;
  }
  if (at(Token::Tilde) && entry->kind == Entry::Option) {
    advance();
    entry->kind = Entry::Treatment;
  } else if (!take(Token::Equal)) {
    return expected(entry->kind == Entry::Set ? "'='" : "'=' or '~'");
  }
  entry->value = parseExpr();
  return entry->value ? entry : nullptr;
}
