//===- ElaborateData.cpp - dims, constants, vocabularies, data ------------===//
//
// Declarations are elaborated at their first use, so their order is free. A
// value from --set overrides the declaration.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"

#include <cmath>

using namespace fovea;
using namespace fovea::fov;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

/// The size of a vocabulary that no file and no --set has fixed yet.
static constexpr int64_t assumedVocabulary = 10000;
/// The largest dim, and the largest vocabulary.
static constexpr int64_t largestSize = int64_t(1) << 31;
static constexpr int64_t largestVocabulary = int64_t(1) << 40;

void Elaborator::readName(const Statement &s, Symbol &symbol, Scope &scope) {
  symbol.kind = Symbol::Reading;
  switch (s.kind) {
  case StatementKind::Dim:
    return readDim(s, symbol, scope);
  case StatementKind::Const:
    return readConst(s, symbol, scope);
  case StatementKind::Vocab:
    symbol.vocabulary =
        makeVocabulary(scope.prefix + s.name.str(), s.nameLoc, s.value, scope);
    symbol.kind = symbol.vocabulary ? Symbol::Vocab : Symbol::Mistake;
    return;
  case StatementKind::Length:
    return readLength(s, symbol, scope);
  default:
    return readData(s, symbol, scope);
  }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

const std::string *Elaborator::overrideOf(const std::string &name) {
  keys.insert(name);
  const std::string *value = nullptr;
  for (const auto &[key, text] : overrides)
    if (key == name)
      value = &text;
  return value;
}

void Elaborator::readDim(const Statement &s, Symbol &symbol, Scope &scope) {
  std::string name = scope.prefix + s.name.str();
  std::optional<int64_t> value;
  if (const std::string *text = overrideOf(name)) {
    int64_t number;
    if (StringRef(*text).getAsInteger(10, number))
      error(Code::override, s.nameLoc,
            "--set " + name + "=" + *text + ": a dim is a whole number");
    else
      value = number;
  } else if (std::optional<Extent> extent = size(*s.value, scope, nullptr)) {
    value = extent->value();
    if (!value)
      error(Code::dimValue, s.value->loc,
            "dim '" + name + "' is " + extent->text() +
                ", which is not a whole number");
  }
  if (value && (*value < 1 || *value > largestSize)) {
    error(Code::dimValue, s.nameLoc,
          "dim '" + name + "' is " + std::to_string(*value) +
              ", but a dim is at least 1 and at most 2^31");
    value = std::nullopt;
  }
  // After an error, checking continues.
  symbol.size = Extent(model->sizes.dim(s.name, value.value_or(1)));
  symbol.kind = Symbol::Size;
}

/// `length N <= T = ..`: its equation comes with the others.
void Elaborator::readLength(const Statement &s, Symbol &symbol, Scope &scope) {
  symbol.kind = Symbol::Mistake;
  std::optional<Extent> bound = size(*s.place.bound, scope, nullptr);
  if (!bound)
    return;
  if (!bound->isSum() || bound->nestedLength() || bound->lengthByValues())
    return error(Code::notASize, s.place.bound->loc,
                 "the bound of '" + s.name.str() + "' is " + bound->text() +
                     ", but it must be a number or a sum of multiples of "
                     "lengths of data");
  std::string name = scope.prefix + s.name.str();
  symbol.size = Extent(model->sizes.lengthByValues(name, *bound));
  symbol.kind = Symbol::Size;
}

/// The equation of a length that follows from values: from 0 to its bound.
void Elaborator::elaborateLength(const Statement &s, Scope &scope) {
  Symbol *symbol = lookup(scope, s.name);
  if (!symbol || symbol->kind != Symbol::Size)
    return;
  Term *value = expression(*s.value, scope, nullptr);
  if (!value)
    return;
  const Atom *length = symbol->size.length();
  SMLoc loc = s.value->loc;
  value = map(Fn::Min, {value, sizeTerm(*length->bound, loc)}, loc);
  value = map(Fn::Max, {value, number(0, loc, true)}, loc);
  Array *array = &model->storage.emplace_back();
  array->source = Array::Equation;
  array->name = array->text = length->name;
  array->loc = s.nameLoc;
  array->pieces.push_back({{}, value, loc});
  model->arrays.push_back(array);
  model->lengthValues[length] = array;
}

/// Parses a number of --set: `3`, `0.5`, `inf`, `true`.
static bool parseNumber(StringRef text, double &number, bool &isInteger) {
  isInteger = text == "true" || text == "false";
  int64_t whole;
  if (isInteger)
    number = text == "true";
  else if (text == "inf" || text == "-inf")
    number = text == "inf" ? INFINITY : -INFINITY;
  else if (!text.getAsInteger(10, whole))
    number = double(whole), isInteger = true;
  else
    return !text.getAsDouble(number) && !std::isnan(number);
  return true;
}

bool fovea::fov::isConstant(const Term &term) {
  switch (term.kind) {
  case TermKind::Number:
    return true;
  case TermKind::Size:
    return !term.extent.differs();
  case TermKind::Map:
  case TermKind::If:
    return llvm::all_of(term.args, [](Term *arg) { return isConstant(*arg); });
  default:
    return false;
  }
}

void Elaborator::readConst(const Statement &s, Symbol &symbol, Scope &scope) {
  std::string name = scope.prefix + s.name.str();
  if (const std::string *text = overrideOf(name)) {
    double value;
    bool isInteger;
    if (parseNumber(*text, value, isInteger))
      symbol.value = number(value, s.nameLoc, isInteger);
    else
      error(Code::override, s.nameLoc,
            "--set " + name + "=" + *text + ": a const is a number");
  } else if (Term *value = expression(*s.value, scope, nullptr)) {
    if (isConstant(*value))
      symbol.value = value;
    else
      error(Code::notConstant, s.value->loc,
            "const '" + name +
                "' is not a number that is known before anything "
                "runs");
  }
  symbol.kind = symbol.value ? Symbol::Number : Symbol::Mistake;
}

//===----------------------------------------------------------------------===//
// Vocabularies
//===----------------------------------------------------------------------===//

/// The size in `words(n)`, or null.
static const ast::Expr *sizeIn(const ast::Expr *call) {
  bool isSize = call && call->kind == ExprKind::Call &&
                call->items.size() == 1 &&
                call->items[0].value->kind != ExprKind::String;
  return isSize ? call->items[0].value : nullptr;
}

/// The number of symbols of a vocabulary, if `words(n)` or --set determines it.
/// Empty after an error, too.
std::optional<int64_t> Elaborator::symbolCount(const std::string &name,
                                               const ast::Expr *call,
                                               Scope &scope) {
  if (const std::string *text = overrideOf(name + ".vocab")) {
    int64_t count;
    if (!StringRef(*text).getAsInteger(10, count) && count >= 1 &&
        count <= largestVocabulary)
      return count;
    error(Code::override, {},
          "--set " + name + ".vocab=" + *text +
              ": a vocabulary has a whole number of symbols, at least 1 "
              "and at most 2^40");
    return std::nullopt;
  }
  const ast::Expr *given = sizeIn(call);
  std::optional<Extent> extent =
      given ? size(*given, scope, nullptr) : std::nullopt;
  if (!extent)
    return std::nullopt;
  std::optional<int64_t> count = extent->value();
  if (count && *count >= 1 && *count <= largestVocabulary)
    return count;
  error(Code::vocabularySize, given->loc,
        "vocabulary '" + name + "' has " + extent->textWithValue() +
            " symbols, but it has " +
            (count ? "at least 1 and at most 2^40"
                   : "a whole number of them that is known before anything "
                     "runs"));
  return std::nullopt;
}

Vocabulary *Elaborator::makeVocabulary(const std::string &name, SMLoc loc,
                                       const ast::Expr *call, Scope &scope) {
  static constexpr StringRef kinds[] = {"words", "chars", "sentencepiece",
                                        "tokeniser", "ids"};
  if (call) {
    const ast::Expr &kind =
        call->kind == ExprKind::Call ? *call->args[0] : *call;
    if (!llvm::is_contained(kinds, kind.name)) {
      error(Code::vocabularyKind, kind.loc,
            "'" + kind.name.str() +
                "' is not a kind of vocabulary (words, chars, "
                "sentencepiece, tokeniser, ids)" +
                suggestion(kind.name, kinds));
      return nullptr;
    }
    bool hasFile = call->kind == ExprKind::Call && call->items.size() == 1 &&
                   call->items[0].value->kind == ExprKind::String;
    bool takesFile = kind.name == "sentencepiece" || kind.name == "tokeniser";
    if (takesFile && !hasFile) {
      error(Code::vocabularyKind, kind.loc,
            "'" + kind.name.str() + "' takes a file: " + kind.name.str() +
                "(\"FILE\")");
      return nullptr;
    }
    bool isPlain = call->kind != ExprKind::Call || hasFile ||
                   (sizeIn(call) && call->items[0].name.empty());
    if (!isPlain || (hasFile && !takesFile)) {
      error(Code::vocabularyKind, kind.loc,
            "'" + kind.name.str() +
                "' takes the number of its symbols alone: " + kind.name.str() +
                "(100)");
      return nullptr;
    }
  }
  Vocabulary *vocabulary = &model->vocabularies.emplace_back();
  vocabulary->name = name;
  vocabulary->loc = loc;
  std::optional<int64_t> count = symbolCount(name, call, scope);
  if (call) {
    vocabulary->kind =
        (call->kind == ExprKind::Call ? call->args[0] : call)->name.str();
    if (vocabulary->kind == "sentencepiece" || vocabulary->kind == "tokeniser")
      vocabulary->file = call->items[0].value->name.str();
  }
  if (overrideOf(name + ".vocab"))
    vocabulary->kind = "ids";
  else
    vocabulary->limit = count.value_or(0);
  vocabulary->isAssumed = !count;
  vocabulary->size = Extent(
      model->sizes.dim(name + ".vocab", count.value_or(assumedVocabulary)));
  return vocabulary;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// `S`, `2*K + 1`, or `W[m]` after `m < M`. A new name becomes a length. False
/// after a mistake.
bool Elaborator::readDataAxis(const Statement &s, const ast::Axis &axis,
                              Array &array, Scope &scope) {
  const ast::Expr *extent = axis.extent;
  if (!extent) {
    error(Code::dataAxis, axis.loc,
          "an axis of data has an extent, not labels");
    return false;
  }
  if (extent->kind == ExprKind::Name && !lookup(scope, extent->name)) {
    Extent length(model->sizes.length(scope.prefix + extent->name.str()));
    Symbol symbol{Symbol::Size, extent->loc, length};
    declare(scope, extent->name, symbol);
    array.extents.push_back(length);
    return true;
  }
  bool nested = extent->kind == ExprKind::Index && extent->args.size() == 2 &&
                extent->args[0]->kind == ExprKind::Name &&
                extent->args[1]->kind == ExprKind::Name;
  if (!nested) {
    std::optional<Extent> known = size(*extent, scope, nullptr);
    if (!known)
      return false;
    if (known->lengthByValues()) {
      error(Code::dataAxis, axis.loc,
            "'" + known->text() +
                "' follows from values, so data cannot have this length; help: "
                "give the data a length of their own");
      return false;
    }
    if (std::optional<int64_t> value = known->value(); value && *value < 1) {
      error(Code::sizeTooSmall, axis.loc,
            "data has at least 1 value along each axis, not " +
                known->textWithValue());
      return false;
    }
    array.extents.push_back(*known);
    return true;
  }
  StringRef name = extent->args[0]->name, index = extent->args[1]->name;
  std::optional<Extent> within;
  for (auto [k, other] : llvm::enumerate(s.array.axes))
    if (other.binder == index && k < array.extents.size())
      within = array.extents[k];
  if (!within) {
    error(Code::dataAxis, extent->args[1]->loc,
          "'" + index.str() + "' names no axis before this one; help: write '" +
              index.str() + " < ...' at that axis");
    return false;
  }
  if (!within->length()) {
    error(Code::dataAxis, extent->args[1]->loc,
          "'" + name.str() + "[" + index.str() + "]' is nested in an axis of " +
              within->text() +
              ", but only a length of the data can have lengths inside");
    return false;
  }
  if (Symbol *known = lookup(scope, name)) {
    if (known->kind == Symbol::Mistake)
      return false;
    const Atom *length =
        known->kind == Symbol::Size ? known->size.length() : nullptr;
    if (!length || length->parent != within->text()) {
      error(Code::dataAxis, extent->loc,
            "'" + name.str() + "' is not a length inside " + within->text(),
            {{known->loc, "it is declared here"}});
      return false;
    }
    array.extents.push_back(known->size);
    return true;
  }
  Extent length(model->sizes.length(scope.prefix + name.str(), within->text()));
  Symbol symbol{Symbol::Size, extent->loc, length};
  declare(scope, name, symbol);
  array.extents.push_back(length);
  return true;
}

bool Elaborator::readDataType(const ast::Type &type, Array &array, Scope &scope,
                              bool ownVocabulary) {
  if (type.ends && type.name != "position") {
    error(Code::sentenceAxes, type.loc,
          "'ends' follows position(...) only; tokens with an "
          "end are a 'sentence'");
    return false;
  }
  if (type.name == "token" || type.name == "sentence") {
    array.kind = Kind::Token;
    array.isSentence = type.name == "sentence";
    bool hasRows =
        !array.extents.empty() && array.extents.back().nestedLength();
    if (array.isSentence && array.numPlaces != 1 && !hasRows) {
      error(Code::sentenceAxes, type.loc,
            "a sentence has one axis, or one for each row of nested "
            "data, but '" +
                array.name + "' has " + std::to_string(array.numPlaces));
      return false;
    }
    array.vocabulary =
        type.of && !ownVocabulary
            ? vocabularyOf(*type.of, scope, nullptr, true)
            : makeVocabulary(array.name, array.loc, nullptr, scope);
    return array.vocabulary;
  }
  if (type.name == "class") {
    array.kind = Kind::Token;
    Vocabulary *classes = &model->vocabularies.emplace_back();
    classes->name = array.name;
    classes->loc = type.loc;
    classes->isClass = true;
    array.vocabulary = classes;
    if (type.args.size() != 1 || type.args[0]->kind == ExprKind::String) {
      for (const ast::Expr *label : type.args)
        classes->labels.push_back(label->name.str());
      classes->size = Extent(int64_t(classes->labels.size()));
      return true;
    }
    std::optional<Extent> count = size(*type.args[0], scope, nullptr);
    if (!count)
      return false;
    if (count->value().value_or(0) < 1) {
      error(Code::sizeTooSmall, type.args[0]->loc,
            "a class has a fixed number of values, at least "
            "1, not " +
                count->text());
      return false;
    }
    classes->size = *count;
    return true;
  }
  if (type.name == "real") {
    for (const ast::Expr *axis : type.args) {
      std::optional<Extent> extent = size(*axis, scope, nullptr);
      if (!extent)
        return false;
      if (extent->value().value_or(1) < 1) {
        error(Code::sizeTooSmall, axis->loc,
              "data has at least 1 value along each axis, not " +
                  extent->textWithValue());
        return false;
      }
      array.valueShape->push_back(*extent);
    }
    return true;
  }
  array.kind = type.name == "bit" ? Kind::Bit : Kind::Int;
  if (type.name != "position")
    return true;
  const ast::Expr &of = *type.args[0];
  Symbol *symbol = lookup(scope, of.name);
  if (!symbol)
    undefined(of.name, of.loc, scope, nullptr);
  if (!symbol || symbol->kind == Symbol::Mistake)
    return false;
  array.positionOf = symbol->family && symbol->family->isData
                         ? symbol->family->members.begin()->second.array
                         : nullptr;
  if (array.positionOf && array.positionOf->numPlaces > 0)
    return true;
  error(Code::positionOf, of.loc,
        "'" + of.name.str() +
            "' is not data with an axis, so nothing "
            "has a position in it",
        {{symbol->loc, "it is declared here"}});
  return false;
}

void Elaborator::readData(const Statement &s, Symbol &symbol, Scope &scope,
                          bool ownVocabulary) {
  symbol.kind = Symbol::Mistake;
  Array *array = &model->storage.emplace_back();
  array->source = Array::Data;
  array->name = array->text = scope.prefix + s.array.name.str();
  array->loc = s.array.loc;
  array->numPlaces = s.array.axes.size();
  array->kind = Kind::Real;
  array->valueShape = Shape();
  array->ends = s.type.ends;
  for (const ast::Axis &axis : s.array.axes)
    if (!readDataAxis(s, axis, *array, scope))
      return;
  symbol.kind = Symbol::Reading;
  bool known = readDataType(s.type, *array, scope, ownVocabulary) &&
               readLoader(s.type, *array, scope);
  symbol.kind = Symbol::Mistake;
  if (!known)
    return;
  Family *family = &families.emplace_back();
  family->name = array->name;
  family->loc = array->loc;
  family->isData = true;
  family->members[{}].array = array;
  symbol.family = family;
  symbol.kind = Symbol::Equations;
  model->data.push_back(array);
}
