//===- ParseDeclarations.cpp - the declarations of the grammar ------------===//
//
// `dim` to `metric`. What a name means is not asked here; only that the words
// stand in the right order.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/ForeignWords.h"
#include "frontends/fov/syntax/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace fovea;
using namespace fovea::ast;
using namespace llvm;

static constexpr StringRef typeWords[] = {"token", "sentence", "real",    "int",
                                          "bit",   "class",    "position"};

/// ( "dim" | "const" ) NAME "=" expr { "," NAME "=" expr }
bool Parser::parseConstants(Statements &out, StatementKind kind) {
  SMLoc first = advance().loc();
  do {
    Statement *statement = create(kind, first);
    if (!newName(statement->name, statement->nameLoc, "a name"))
      return false;
    if (!take(Token::Equal)) {
      fail(Code::expectedToken, gap(),
           "expected '=' after '" + statement->name + "'" + found() +
               "; help: write " +
               (kind == StatementKind::Dim ? "dim " : "const ") +
               statement->name + " = ...");
      return false;
    }
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
    ast::Type type;
    if (!parseArrays(arrays, "data x[S] : real") || !parseType(type))
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

/// ("param" | "state") array { "," array } ":" call [ "=" expr ]
///   { "," array { "," array } ":" call [ "=" expr ] }
bool Parser::parseParam(Statements &out, bool isState) {
  SMLoc first = advance().loc();
  do {
    List<Array> arrays;
    if (!parseArrays(arrays, isState ? "state w : matrix(n, m) = 0"
                                     : "param w : matrix(n, m)"))
      return false;
    if (at(Token::BracketOpen)) {
      fail(Code::unknownModule, token.loc(),
           "expected a module, found '['; help: write "
           "vector(n), matrix(n, m) or tensor(n, m, k)");
      return false;
    }
    Expr *module = parseCall("a module");
    Expr *value = nullptr;
    if (module && isState && take(Token::Equal)) {
      value = parseExpr();
      if (!value)
        return false;
    }
    if (module && at(Token::Equal)) {
      fail(Code::parameterValue, token.loc(),
           "a parameter has no value; help: write train { init = "
           "... } to choose how training begins, const c = 0.5 "
           "for a fixed number");
      return false;
    }
    if (!module)
      return false;
    for (const Array &array : arrays) {
      Statement *statement = create(StatementKind::Param, first);
      statement->array = array;
      statement->module = module;
      statement->isState = isState;
      statement->value = value;
      out.push_back(statement);
    }
  } while (take(Token::Comma));
  return true;
}

/// array { "," array } ":"
bool Parser::parseArrays(SmallVectorImpl<Array> &arrays, StringRef example) {
  do {
    if (!parseArray(arrays.emplace_back()))
      return false;
  } while (take(Token::Comma));
  if (take(Token::Colon))
    return true;
  if (at(Token::Bad)) {
    expected("");
    return false;
  }
  std::string what =
      arrays.back().axes.empty()
          ? "',', ':' or '[' after '" + arrays.back().name.str() + "'"
          : "',' or ':' after the axes";
  fail(Code::expectedToken, gap(),
       "expected " + what + found() + "; help: a declaration is " +
           "written as in " + example);
  return false;
}

/// array = NAME [ "[" axis { "," axis } "]" ]
bool Parser::parseArray(Array &array) {
  return newName(array.name, array.loc, "a name") &&
         parseBrackets(array.axes, [&](Axis &axis) { return parseAxis(axis); });
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
///      | "position" "(" NAME ")", each with [ "ends" ] [ "from" call ]
bool Parser::parseType(ast::Type &type) {
  if (at(Token::Name) && !is_contained(typeWords, token.text)) {
    StringRef meant = nearest(token.text, typeWords);
    std::string ours = fov::ourWord(token.text, fov::WordPlace::Type);
    fail(Code::dataType, token.loc(),
         quoted(token.text) + " is not a type of data" +
             (!ours.empty()   ? ours
              : meant.empty() ? " (" + join(ArrayRef(typeWords), ", ") + ")"
                              : "; did you mean '" + meant.str() + "'?"));
    return false;
  }
  if (!name(type.name, type.loc, "a type of data"))
    return false;
  if (at(Token::BracketOpen)) {
    fail(Code::dataType, token.loc(),
         "a type has no axes; help: write them after the name of "
         "the data, data x[S] : real, and the size of each "
         "element in parentheses: real(n)");
    return false;
  }
  bool hasVocabulary = type.name == "token" || type.name == "sentence";
  if (hasVocabulary && at(Token::ParenOpen)) {
    fail(Code::dataType, token.loc(),
         "'" + type.name +
             "' takes no size; help: declare vocab "
             "v : words(1000), and write " +
             type.name + " of v");
    return false;
  }

  if (type.name == "token" || type.name == "sentence") {
    if (at(Token::Name) && token.text == "of") {
      advance();
      if (at(Token::Integer)) {
        fail(Code::dataType, token.loc(),
             "expected a vocabulary after 'of', found " + describe(token) +
                 "; help: declare vocab v : ids(" + token.text +
                 "), and write " + type.name + " of v");
        return false;
      }
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
    fail(Code::dataType, gap(),
         "expected '(' after '" + type.name + "'" + found() + "; help: write " +
             (type.name == "class" ? "class(10)" : "position(x)"));
    return false;
  }

  if (at(Token::Name) && token.text == "ends") {
    advance();
    type.ends = true;
  } else if (at(Token::Name)) {
    expected("',', ';' or a new line", {"of", "ends", "from"});
    return false;
  }
  return !take(Token::keyword_from) ||
         (type.loader = parseCall("a kind of files"));
}

/// "length" NAME ( "[" ( binder | expr ) "]" | "<=" expr ) "=" expr
bool Parser::parseLength(Statements &out) {
  Statement *statement = create(StatementKind::Length, advance().loc());
  if (!newName(statement->name, statement->nameLoc, "a name"))
    return false;
  if (at(Token::Equal)) {
    fail(Code::expectedToken, token.loc(),
         "a length that follows from values needs a bound; help: write "
         "'length " +
             statement->name +
             " <= T = ...' with the most that it can be; a fixed number is a "
             "dim, and 'length " +
             statement->name + "[l] = ...' has one for each l");
    return false;
  }
  Token opening = token;
  if (take(Token::LessEqual)) {
    statement->place.bound = parseExpr();
    if (!statement->place.bound ||
        !expect(Token::Equal,
                "'=' after the bound of '" + statement->name + "'"))
      return false;
  } else if (!expect(Token::BracketOpen,
                     "'[' or '<=' after '" + statement->name + "'") ||
             !parsePlace(statement->place) ||
             !close(Token::BracketClose, opening) ||
             !expect(Token::Equal, "'=' after '" + statement->name + "[..]'")) {
    return false;
  }
  statement->value = parseExpr();
  if (!statement->value)
    return false;
  out.push_back(statement);
  return true;
}

/// "def" NAME [ sizes ] "(" [ arg { "," arg } ] ")" ( "=" expr | "{" .. "}" )
/// sizes = "(" NAME [ "=" expr ] { "," NAME [ "=" expr ] } ")"
bool Parser::parseDef(Statements &out) {
  Statement *statement = create(StatementKind::Def, advance().loc());
  SmallVector<Parameter> parameters;
  if (!newName(statement->name, statement->nameLoc, "a name") ||
      !parseParameters(parameters))
    return false;
  if (at(Token::ParenOpen)) {
    // The first parentheses were the sizes.
    List<StringRef> sizes;
    List<Expr *> values;
    for (const Parameter &size : parameters) {
      if (size.hasShape) {
        fail(Code::defArgument, size.loc, "a size is a name without brackets");
        return false;
      }
      if (!size.value && !values.empty() && values.back()) {
        fail(Code::defArgument, size.loc,
             "size '" + size.name +
                 "' has no value, but the one before it has; help: "
                 "write the sizes with a value last");
        return false;
      }
      sizes.push_back(size.name);
      values.push_back(size.value);
    }
    if (sizes.empty()) {
      fail(Code::defArgument, token.loc(),
           "the sizes of '" + statement->name + "' are missing");
      return false;
    }
    statement->hasSizes = true;
    statement->sizes = keep(sizes);
    statement->sizeValues = keep(values);
    parameters.clear();
    if (!parseParameters(parameters))
      return false;
  }
  for (const Parameter &argument : parameters)
    if (argument.value) {
      fail(Code::defArgument, argument.equalLoc,
           "an argument has no default; help: write its "
           "name alone");
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
    fail(Code::expectedToken, gap(),
         "expected '=' or '{' after the arguments of '" + statement->name +
             "'" + found() + "; help: write def " + statement->name +
             "(x) = ..., or def " + statement->name + "(x) { ... return ... }");
    return false;
  }
  out.push_back(statement);
  return true;
}

/// "(" [ arg { "," arg } ] ")"
/// arg = NAME [ "[" NAME | INT {..} "]" ] [ "=" expr ]; a value is of a size
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
    if (at(Token::Colon)) {
      fail(Code::defArgument, token.loc(),
           "an argument has no type; help: write its name alone, "
           "or its axes in brackets: x[n]");
      return false;
    }
    if (at(Token::Equal)) {
      parameter.equalLoc = advance().loc();
      if (!(parameter.value = parseExpr()))
        return false;
    }
    if (!at(Token::BracketOpen))
      continue;
    Token bracket = advance();
    List<Expr *> shape;
    auto parseExtent = [&](Expr *&extent) {
      extent = at(Token::Integer) ? parseNumber()
                                  : parseName("a name or an integer");
      return extent != nullptr;
    };
    if (!parseList(shape, parseExtent) || !close(Token::BracketClose, bracket))
      return false;
    parameter.hasShape = true;
    parameter.shape = keep(shape);
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
      auto parseBinding = [&](Item &binding) {
        return name(binding.name, binding.loc, "the name of its data") &&
               expect(Token::Equal, "'=' after '" + binding.name + "'") &&
               (binding.value = parseName("a name"));
      };
      if (!parseList(bindings, parseBinding) ||
          !close(Token::ParenClose, opening))
        return false;
      statement->bindings = keep(bindings);
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
