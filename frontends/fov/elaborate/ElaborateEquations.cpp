//===- ElaborateEquations.cpp - left sides --------------------------------===//
//
// Elaborates each equation once per value of its static indices. The result is
// a piece of an array: the general one, or one of its places.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/ADT/ScopeExit.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

/// `h[0]` of the family h at 0; the array is made when it is first named.
Array *Elaborator::memberArray(Family &family, const StaticIndices &at,
                               Scope &scope) {
  Member &member = family.members[at];
  if (member.array)
    return member.array;
  Array *array = &model->storage.emplace_back();
  array->source = Array::Equation;
  array->isOfCall = scope.isCall;
  array->name = family.name;
  array->text = family.name;
  unsigned axis = 0;
  std::string text;
  for (int64_t index : at) {
    while (axis < family.isStatic.size() && !family.isStatic[axis])
      ++axis;
    auto labels = family.labels.find(axis++);
    bool isNamed = labels != family.labels.end() && index >= 0 &&
                   size_t(index) < labels->second.size();
    std::string member =
        isNamed ? labels->second[index] : std::to_string(index);
    array->name += "." + member;
    text += (text.empty() ? "[" : ",") + member;
  }
  array->text += text.empty() ? "" : text + "]";
  array->loc = family.loc;
  array->numPlaces = llvm::count(family.isStatic, false);
  array->context = scope.context;
  model->arrays.push_back(array);
  member.array = array;
  return array;
}

/// The maximum number of separately given places of a name.
static constexpr size_t maxPlaces = 256;

/// A dynamic place. Returns false after an error.
bool Elaborator::readPlace(const ast::Left &left, const ast::Place &place,
                           Scope &scope, const Bindings *&bindings,
                           PiecePlace &result) {
  result.loc = place.loc;
  const Expr *value = place.value;
  int64_t shift = 0;
  // t + k + 1: an index, and numbers that are known.
  SmallVector<const Expr *, 2> addends;
  const Expr *first = value;
  while (first->kind == ExprKind::Binary && first->op == ast::Op::Add) {
    addends.push_back(first->args[1]);
    first = first->args[0];
  }
  if (!addends.empty() && first->kind == ExprKind::Name &&
      !lookup(scope, first->name) && !staticValue(*first, scope, bindings)) {
    std::optional<int64_t> sum = 0;
    for (const Expr *addend : addends) {
      auto number = staticValue(*addend, scope, bindings);
      bool isSmall = sum && number && *number >= 0 && *number <= maxShift;
      sum = isSmall ? std::optional(*sum + *number) : std::nullopt;
    }
    if (sum && *sum <= maxShift) {
      shift = *sum;
      value = first;
    }
  }
  Symbol *symbol =
      value->kind == ExprKind::Name ? lookup(scope, value->name) : nullptr;
  bool isConstant = symbol && (symbol->kind == Symbol::Size ||
                               symbol->kind == Symbol::Number ||
                               symbol->kind == Symbol::Label);
  if (value->kind != ExprKind::Name || isConstant) {
    std::optional<Extent> constant = size(*place.value, scope, bindings);
    if (!constant)
      return false;
    result.constant = *constant;
    return true;
  }
  if (symbol && symbol->kind != Symbol::Def) {
    indexNamed(value->name, place.loc, *symbol, scope, bindings);
    return false;
  }
  for (const Bindings *b = bindings; b; b = b->outer) {
    if (b->name != value->name || !b->var)
      continue;
    bool isTwice = llvm::any_of(left.places, [&](const ast::Place &other) {
      return other.loc.getPointer() < place.loc.getPointer() &&
             b->var->loc == other.loc;
    });
    if (isTwice) {
      error(Code::boundTwice, place.loc,
            "index '" + value->name.str() +
                "' is written twice here; help: give each place an index of "
                "its own",
            {{b->var->loc, "it is first written here"}});
      return false;
    }
    result.shift = shift;
    result.var = b->var;
    return true;
  }
  IndexVar *var = newIndex(value->name, place.loc);
  if (place.bound) {
    std::optional<Extent> bound = size(*place.bound, scope, bindings);
    if (!bound)
      return false;
    var->extent = bound;
    var->strength = 1;
    var->originLoc = place.loc;
    var->origin = value->name.str() + " < " + bound->text();
    if (!stateParent(var, *place.bound, scope, bindings))
      return false;
  }
  bindingStorage.push_back({bindings, value->name, var, std::nullopt, true});
  bindings = &bindingStorage.back();
  result.var = var;
  result.shift = shift;
  return true;
}

std::string fov::placesText(ArrayRef<PiecePlace> places, bool forMessage) {
  std::string text;
  for (const PiecePlace &place : places) {
    text += text.empty() ? "[" : ",";
    if (place.var)
      text += !forMessage ? "*"
              : place.shift == 0
                  ? place.var->name
                  : place.var->name + "+" + std::to_string(place.shift);
    else if (auto value = place.constant.value(); value && !forMessage)
      text += std::to_string(*value);
    else
      text += place.constant.text();
  }
  return text.empty() ? text : text + "]";
}

/// Returns whether these places have no other equation; otherwise reports it.
bool Elaborator::isNew(Array *array, ArrayRef<PiecePlace> places, SMLoc loc,
                       bool guide) {
  std::string what = guide ? "guide " : "", key = what;
  key += placesText(places, false);
  // Data may be observed at several distances: word[t] ~ .., word[t+1] ~ ..
  for (const PiecePlace &place : places)
    if (array->source == Array::Data)
      key += "+" + std::to_string(place.shift);
  auto [it, inserted] = given.try_emplace({array, key}, loc);
  if (inserted)
    return true;
  std::string first = diagnostics.lineText(it->second, loc);
  std::string line = std::to_string(diagnostics.lineOf(it->second));
  bool isHere = first == "line " + line;
  error(Code::givenTwice, loc,
        what + array->text + placesText(places, true) + " is given twice (" +
            (isHere ? "lines " + line + " and " : first + " and line ") +
            std::to_string(diagnostics.lineOf(loc)) + ")",
        {{it->second, "it is first given here"}});
  return false;
}

void Elaborator::addPiece(Array *array, Piece piece) {
  if (!isNew(array, piece.places, piece.loc))
    return;
  if (array->pieces.size() > maxPlaces)
    return;
  if (array->pieces.size() == maxPlaces)
    error(Code::tooLarge, piece.loc,
          "'" + array->text + "' is given at more than " +
              std::to_string(maxPlaces) +
              " places; help: write it over an index");
  array->pieces.push_back(std::move(piece));
}

/// The name on the left with `count` indices: the given ones first.
static std::string withIndices(const ast::Left &left, size_t count) {
  static constexpr StringRef others = "tijklmnopqrs";
  std::string text;
  for (size_t k = 0; k < count; ++k) {
    bool isName = k < left.places.size() &&
                  left.places[k].value->kind == ast::ExprKind::Name;
    text += (k == 0 ? "" : ",") + (isName ? left.places[k].value->name
                                          : others.substr(k % others.size(), 1))
                                      .str();
  }
  return left.name.str() + (count == 0 ? "" : "[" + text + "]");
}

/// The array and the places of a left side. Null after an error.
Array *Elaborator::readLeft(const ast::Left &left, Scope &scope,
                            const Bindings *&bindings,
                            SmallVector<PiecePlace, 2> &places) {
  Symbol *symbol = lookup(scope, left.name);
  Family *family = symbol ? symbol->family : nullptr;
  if (!family || (!family->isEquation && !family->isData))
    return nullptr;
  Array *data =
      family->isData ? family->members.begin()->second.array : nullptr;
  if (data && left.places.size() != data->numPlaces) {
    error(Code::numberOfIndices, left.loc,
          "'" + left.name.str() + "' has " + counted(data->numPlaces, "axis") +
              " but " + counted(left.places.size(), "index") +
              " here; help: write " + withIndices(left, data->numPlaces),
          {{data->loc, "it is declared here"}});
    return nullptr;
  }
  if (!data && left.places.size() != family->isStatic.size())
    return nullptr;
  StaticIndices at;
  for (auto [k, place] : llvm::enumerate(left.places)) {
    if (!data && family->isStatic[k]) {
      std::optional<int64_t> value = staticValue(*place.value, scope, bindings);
      if (!value) {
        error(Code::memberIndex, place.loc,
              "this axis of '" + left.name.str() +
                  "' selects members, so its place is a number "
                  "known before anything runs");
        return nullptr;
      }
      at.push_back(*value);
      continue;
    }
    PiecePlace &read = places.emplace_back();
    if (!readPlace(left, place, scope, bindings, read))
      return nullptr;
    if (data && read.var && !read.var->extent) {
      read.var->extent = data->extents[k];
      read.var->strength = 2;
      read.var->originLoc = data->loc;
      read.var->origin = data->name + "[" + read.var->name + "]";
    }
    // W of turn[n,j] is the W of n.
    const Atom *length = data ? data->extents[k].length() : nullptr;
    for (unsigned outer = 0; length && read.var && outer < k; ++outer)
      if (IndexVar *parent = places[outer].var;
          parent && !read.var->parentIndex &&
          data->extents[outer].text() == length->parent)
        read.var->parentIndex = boundIndex(parent, place.loc);
  }
  return data ? data : memberArray(*family, at, scope);
}

void Elaborator::elaborateAt(const Statement &s, Scope &scope,
                             const Bindings *bindings) {
  if (s.kind == StatementKind::Update)
    return elaborateUpdate(s, scope, bindings);
  struct Target {
    Array *array = nullptr;
    SmallVector<PiecePlace, 2> places = {};
  };
  SmallVector<Target, 2> targets(s.lefts.size());
  for (auto [left, target] : llvm::zip(s.lefts, targets)) {
    target.array = readLeft(left, scope, bindings, target.places);
    if (!target.array)
      return;
  }
  if (s.kind == StatementKind::Choice)
    return elaborateChoice(s, targets[0].array, targets[0].places, scope,
                           bindings);
  for (auto [left, target] : llvm::zip(s.lefts, targets))
    if (target.array->source == Array::Data &&
        llvm::all_of(target.places, [](auto &place) { return place.var; }))
      return error(
          Code::dataGiven, left.loc,
          "'" + left.name.str() +
              "' is data and cannot be given by an equation; help: write "
              "'~' for its distribution",
          {{target.array->loc, "it is declared here"}});
  Terms values = tuple(*s.value, scope, bindings);
  if (!spread(s, values))
    return;
  for (auto [left, target, value] : llvm::zip(s.lefts, targets, values))
    addPiece(target.array, {target.places, value, left.loc});
}

/// One value for each name on the left: a tuple, or the first axis of an array.
/// Returns false after an error.
bool Elaborator::spread(const Statement &s, Terms &values) {
  if (values.empty())
    return false;
  size_t wanted = s.lefts.size();
  if (values.size() == 1 && wanted > 1) {
    Term *whole = values[0];
    values.clear();
    for (auto [k, left] : llvm::enumerate(s.lefts))
      values.push_back(index(whole, {number(k, left.loc, true)}, left.loc));
    model->bindings.push_back(
        {whole, {Extent(wanted)}, s.lefts[0].loc, "", {}});
  } else if (values.size() != wanted) {
    error(Code::numberOfValues, s.value->loc,
          "the right side has " + counted(values.size(), "value") +
              " but the left has " + counted(wanted, "name"));
    return false;
  }
  return true;
}

void Elaborator::elaborateStatement(const Statement &s, Scope &scope) {
  // The values of its static indices.
  std::vector<std::pair<StringRef, int64_t>> statics;
  for (const ast::Left &left : s.lefts)
    for (const ast::Place &place : left.places) {
      SmallVector<const Expr *, 4> parts{place.value};
      for (size_t i = 0; i < parts.size(); ++i) {
        const Expr *value = parts[i];
        if (value->kind == ExprKind::Binary)
          parts.append(value->args.begin(), value->args.end());
        if (value->kind != ExprKind::Name)
          continue;
        auto it = staticExtents.find({&s, value->name.str()});
        if (it != staticExtents.end() &&
            llvm::none_of(statics, [&](auto &known) {
              return known.first == value->name;
            }))
          statics.push_back({value->name, it->second.value().value_or(0)});
      }
    }
  int64_t total = 1;
  for (auto &[name, extent] : statics) {
    total *= extent;
    if (total > maxMembers)
      return error(Code::familySize, s.loc,
                   "this equation has " + std::to_string(total) +
                       " members, but a family has at most 4096");
  }
  for (int64_t number = 0; number < total; ++number) {
    const Bindings *bindings = nullptr;
    int64_t rest = number;
    for (auto &[name, extent] : llvm::reverse(statics)) {
      bindingStorage.push_back({bindings, name, nullptr, rest % extent, true});
      bindings = &bindingStorage.back();
      rest /= extent;
    }
    if (!statics.empty() && isCovered(s, scope, bindings))
      continue;
    if (isTooMuch(s.loc))
      return;
    elaborateAt(s, scope, bindings);
  }
}

/// The static places of a left side, and its dynamic ones as a pattern.
std::optional<std::string> Elaborator::placeKey(const ast::Left &left,
                                                Scope &scope,
                                                const Bindings *bindings) {
  Symbol *symbol = lookup(scope, left.name);
  if (!symbol || !symbol->family || !symbol->family->isEquation)
    return std::nullopt;
  std::string key = left.name.str();
  for (auto [k, place] : llvm::enumerate(left.places)) {
    if (k < symbol->family->isStatic.size() && symbol->family->isStatic[k]) {
      std::optional<int64_t> value = staticValue(*place.value, scope, bindings);
      if (!value)
        return std::nullopt;
      key += "/" + std::to_string(*value);
      continue;
    }
    bool isIndex = place.value->kind == ExprKind::Name &&
                   !lookup(scope, place.value->name);
    key += isIndex ? "/*"
                   : "/" + std::string(place.value->range.Start.getPointer(),
                                       place.value->range.End.getPointer());
  }
  return key;
}

/// A constant place overrides the general equation.
bool Elaborator::isCovered(const Statement &s, Scope &scope,
                           const Bindings *bindings) {
  for (const ast::Left &left : s.lefts) {
    std::optional<std::string> key = placeKey(left, scope, bindings);
    if (!key || !constantPlaces.count(*key))
      return false;
  }
  return true;
}

void Elaborator::elaborateAll(const Statements &statements, Scope &scope) {
  std::set<std::string> outer = std::move(constantPlaces);
  constantPlaces.clear();
  for (const Statement *s : statements)
    for (const ast::Left &left : s->lefts)
      if (std::optional<std::string> key = placeKey(left, scope, nullptr))
        constantPlaces.insert(*key);
  for (const Statement *s : statements) {
    if (s->kind == StatementKind::Equation ||
        s->kind == StatementKind::Choice) {
      bool isLet = scope.isCall && llvm::all_of(s->lefts, [](auto &left) {
                     return left.places.empty();
                   });
      ModelPart begin = ModelPart::after(*model);
      if (!isLet)
        elaborateStatement(*s, scope);
      if (&scope == topScope && s->kind == StatementKind::Equation)
        made[s] = {begin, ModelPart::after(*model)};
    } else if (s->kind == StatementKind::Length && !s->place.value) {
      elaborateLength(*s, scope);
    } else if (s->kind == StatementKind::Update) {
      // What the model updates as a whole does not update its parts.
      bool isPart = scope.instance && scope.instance->isState;
      if (!model->decoding && !isPart)
        elaborateStatement(*s, scope);
    } else if (s->kind == StatementKind::Penalty) {
      Term *value = expression(*s->value, scope, nullptr);
      if (!value)
        continue;
      if (!value->free.empty()) {
        // Inside a call: once per value of the caller's indices.
        Term *sum = make(TermKind::Reduce, s->loc, {value});
        sum->vars.append(value->free.begin(), value->free.end());
        findFree(*sum);
        value = sum;
      }
      model->penalties.push_back({value, s->value->loc});
    }
  }
  constantPlaces = std::move(outer);
}

//===----------------------------------------------------------------------===//
// Edits
//===----------------------------------------------------------------------===//

/// Returns whether a place is in a text.
static bool isIn(SMLoc loc, llvm::SMRange range) {
  return loc.getPointer() >= range.Start.getPointer() &&
         loc.getPointer() < range.End.getPointer();
}

bool Elaborator::elaborateAgain(std::unique_ptr<Elaborated> &owned,
                                const Statement &was, const Statement &now) {
  model = std::move(owned);
  llvm::scope_exit giveBack([&] { owned = std::move(model); });
  if (!staticExtents.empty())
    return false;
  findStaticIndices({&now}, *topScope);
  if (!staticExtents.empty())
    return false;
  // The places are free again, and keep their order.
  std::vector<std::pair<Array *, size_t>> places;
  for (const ast::Left &left : was.lefts) {
    Symbol *symbol = lookup(*topScope, left.name);
    if (!symbol || !symbol->family || !symbol->family->isEquation ||
        llvm::is_contained(symbol->family->isStatic, true))
      return false;
    Array *array = symbol->family->members.begin()->second.array;
    auto piece = llvm::find_if(array->pieces, [&](const Piece &piece) {
      return piece.loc == left.loc;
    });
    if (piece == array->pieces.end())
      return false;
    places.push_back({array, piece - array->pieces.begin()});
    array->pieces.erase(piece);
    for (SMLoc *loc : {&array->loc, &symbol->family->loc, &symbol->loc})
      if (isIn(*loc, was.range))
        *loc = now.lefts[&left - was.lefts.begin()].loc;
  }
  std::erase_if(given,
                [&](auto &entry) { return isIn(entry.second, was.range); });
  ModelPart begin = ModelPart::after(*model);
  size_t before[] = {model->params.size(),       model->data.size(),
                     model->choices.size(),      model->penalties.size(),
                     model->updates.size(),      model->vocabularies.size(),
                     model->lengthValues.size(), callUpdates.size()};
  const Array *number = model->updateNumber;
  elaborateStatement(now, *topScope);
  size_t after[] = {model->params.size(),       model->data.size(),
                    model->choices.size(),      model->penalties.size(),
                    model->updates.size(),      model->vocabularies.size(),
                    model->lengthValues.size(), callUpdates.size()};
  bool isAlone = model->updateNumber == number && llvm::equal(before, after);
  for (const Array &array : llvm::drop_begin(model->storage, begin.storage))
    isAlone &= array.isOfCall;
  if (!isAlone)
    return false;
  for (auto &[array, at] : places) {
    if (array->pieces.empty() || !isIn(array->pieces.back().loc, now.range))
      return false;
    std::rotate(array->pieces.begin() + at, array->pieces.end() - 1,
                array->pieces.end());
  }
  made[&now] = {begin, ModelPart::after(*model)};
  return true;
}
