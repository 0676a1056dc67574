//===- ElaborateEquations.cpp - left sides --------------------------------===//
//
// Each equation is elaborated once per value of its static indices, and becomes
// a piece of an array: the general one, or one of its places.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Elaborate.h"
#include "frontends/fov/Options.h"

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
  model->storage.emplace_back();
  Array *array = &model->storage.back();
  array->source = Array::Equation;
  array->name = family.name;
  array->text = family.name;
  for (int64_t index : at) {
    array->name += "." + std::to_string(index);
    array->text += (array->text.ends_with("]") ? "" : "[");
    array->text += std::to_string(index) + "]";
  }
  array->loc = family.loc;
  array->numPlaces = llvm::count(family.isStatic, false);
  array->context = scope.context;
  model->arrays.push_back(array);
  member.array = array;
  return array;
}

/// A dynamic place. False after a mistake.
bool Elaborator::readPlace(const ast::Place &place, Scope &scope,
                           const Bindings *&bindings, PiecePlace &result,
                           const Statement &statement) {
  result.loc = place.loc;
  const Expr *value = place.value;
  int64_t shift = 0;
  if (value->kind == ExprKind::Binary && value->op == ast::Op::Add &&
      value->args[0]->kind == ExprKind::Name &&
      value->args[1]->kind == ExprKind::Integer &&
      !lookup(scope, value->args[0]->name)) {
    shift = value->args[1]->integer;
    value = value->args[0];
  }
  Symbol *symbol =
      value->kind == ExprKind::Name ? lookup(scope, value->name) : nullptr;
  bool isIndex = value->kind == ExprKind::Name &&
                 (!symbol || symbol->kind == Symbol::Def ||
                  symbol->kind == Symbol::Equations ||
                  symbol->kind == Symbol::Let || symbol->kind == Symbol::Value);
  if (!isIndex) {
    std::optional<Extent> constant = size(*place.value, scope, bindings);
    if (!constant)
      return false;
    result.constant = *constant;
    return true;
  }
  if (symbol && symbol->kind != Symbol::Def) {
    error(place.loc,
          "index '" + value->name.str() + "' has the name of the equation " +
              value->name.str() + " (line " +
              std::to_string(diagnostics.lineOf(symbol->loc)) +
              "); use another letter, for example 'j'",
          {{symbol->loc, "'" + value->name.str() + "' is defined here"}});
    return false;
  }
  for (const Bindings *b = bindings; b; b = b->outer)
    if (b->name == value->name) {
      result.var = b->var;
      if (place.bound && b->var && !b->var->extent)
        b->var->extent = size(*place.bound, scope, bindings);
      return b->var != nullptr;
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
  }
  bindingStorage.push_back({bindings, value->name, var, std::nullopt, true});
  bindings = &bindingStorage.back();
  result.var = var;
  result.shift = shift;
  return true;
}

void Elaborator::addPiece(Array *array, Piece piece) {
  auto same = [](const PiecePlace &a, const PiecePlace &b) {
    if (a.var || b.var)
      return a.var && b.var && a.shift == b.shift;
    return a.constant == b.constant;
  };
  for (const Piece &other : array->pieces) {
    bool all = true;
    for (auto [a, b] : llvm::zip(other.places, piece.places))
      all &= same(a, b);
    if (!all)
      continue;
    std::string text = array->text;
    if (!piece.places.empty()) {
      text += "[";
      for (auto [k, place] : llvm::enumerate(piece.places))
        text += (k ? "," : "") +
                (place.var ? place.var->name : place.constant.text());
      text += "]";
    }
    error(piece.loc,
          text + " is given twice (lines " +
              std::to_string(diagnostics.lineOf(other.loc)) + " and " +
              std::to_string(diagnostics.lineOf(piece.loc)) + ")",
          {{other.loc, "it is first given here"}});
    return;
  }
  array->pieces.push_back(std::move(piece));
}

void Elaborator::elaborateAt(const Statement &s, Scope &scope,
                             const Bindings *bindings) {
  struct Target {
    Array *array;
    SmallVector<PiecePlace, 2> places;
  };
  std::vector<Target> targets;
  for (const ast::Left &left : s.lefts) {
    Symbol *symbol = lookup(scope, left.name);
    if (!symbol || !symbol->family)
      return;
    Family &family = *symbol->family;
    Target target;
    StaticIndices at;
    if (!family.isEquation) {
      // Data that has a distribution.
      target.array = family.members.begin()->second.array;
      if (left.places.size() != target.array->numPlaces) {
        error(left.loc,
              "'" + left.name.str() + "' has " +
                  std::to_string(target.array->numPlaces) + " axes but " +
                  std::to_string(left.places.size()) + " indices here",
              {{target.array->loc, "it is declared here"}});
        return;
      }
    }
    for (auto [k, place] : llvm::enumerate(left.places)) {
      if (family.isEquation && family.isStatic[k]) {
        std::optional<int64_t> value =
            staticValue(*place.value, scope, bindings);
        if (!value) {
          error(place.loc, "this axis of '" + left.name.str() +
                               "' selects members, so its place is a number "
                               "known before anything runs");
          return;
        }
        at.push_back(*value);
        continue;
      }
      PiecePlace read;
      if (!readPlace(place, scope, bindings, read, s))
        return;
      if (!family.isEquation && read.var && !read.var->extent) {
        read.var->extent = target.array->extents[k];
        read.var->strength = 2;
        read.var->originLoc = target.array->loc;
        read.var->origin = target.array->name + "[" + read.var->name + "]";
      }
      target.places.push_back(read);
    }
    if (family.isEquation)
      target.array = memberArray(family, at, scope);
    targets.push_back(std::move(target));
  }
  if (targets.empty())
    return;

  if (s.kind == StatementKind::Choice) {
    elaborateChoice(s, targets[0].array, targets[0].places, scope, bindings);
    return;
  }
  bool isBoundary =
      llvm::any_of(targets[0].places, [](auto &p) { return !p.var; });
  if (targets[0].array->source == Array::Data && !isBoundary) {
    error(s.lefts[0].loc,
          "'" + s.lefts[0].name.str() +
              "' is data and cannot be given by an equation; write '~' for its "
              "distribution",
          {{targets[0].array->loc, "it is declared here"}});
    return;
  }
  Terms values = tuple(*s.value, scope, bindings);
  if (values.empty())
    return;
  if (values.size() == 1 && targets.size() > 1) {
    Term *whole = values[0];
    values.clear();
    for (unsigned k = 0; k < targets.size(); ++k)
      values.push_back(
          index(whole, {number(k, s.lefts[k].loc, true)}, s.lefts[k].loc));
    model->bindings.push_back(
        {whole, {Extent(int64_t(targets.size()))}, s.lefts[0].loc, "", {}});
  } else if (values.size() != targets.size()) {
    error(s.value->loc, "the right side has " + std::to_string(values.size()) +
                            " values but the left has " +
                            std::to_string(targets.size()) + " names");
    return;
  }
  for (auto [k, target] : llvm::enumerate(targets))
    addPiece(target.array, {target.places, values[k], s.lefts[k].loc});
}

void Elaborator::elaborateStatement(const Statement &s, Scope &scope) {
  // The values of its static indices.
  std::vector<std::pair<StringRef, int64_t>> statics;
  for (const ast::Left &left : s.lefts)
    for (const ast::Place &place : left.places) {
      const Expr *value = place.value;
      if (value->kind == ExprKind::Binary)
        value = value->args[0];
      if (value->kind != ExprKind::Name)
        continue;
      auto it = staticExtents.find({&s, value->name.str()});
      if (it != staticExtents.end() && llvm::none_of(statics, [&](auto &known) {
            return known.first == value->name;
          }))
        statics.push_back({value->name, it->second});
    }
  int64_t total = 1;
  for (auto &[name, extent] : statics)
    total = std::min<int64_t>(total * extent, 1 << 20);
  if (total > 4096) {
    error(s.loc, "this equation has " + std::to_string(total) +
                     " members, but a family has at most 4096");
    return;
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

/// A constant place covers what a general equation would give there.
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
      if (!isLet)
        elaborateStatement(*s, scope);
    } else if (s->kind == StatementKind::Penalty) {
      Term *value = expression(*s->value, scope, nullptr);
      if (!value)
        continue;
      if (!value->free.empty()) {
        // Inside a call: once per value of the caller's indices.
        Term *sum = make(TermKind::Reduce, s->loc, {value});
        sum->vars.append(value->free.begin(), value->free.end());
        computeFree(sum);
        value = sum;
      }
      model->penalties.push_back({value, s->value->loc});
    }
  }
  constantPlaces = std::move(outer);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

void Elaborator::elaborateChoice(const Statement &s, Array *target,
                                 SmallVector<PiecePlace, 2> places,
                                 Scope &scope, const Bindings *bindings) {
  const Expr &right = *s.value;
  Choice choice;
  choice.target = target;
  choice.places = places;
  choice.loc = s.lefts[0].loc;
  choice.guide = s.guide;
  choice.latent = target->source == Array::Equation;
  bool isReduce = right.kind == ExprKind::Reduce;
  bool isCall =
      right.kind == ExprKind::Call && right.args[0]->kind == ExprKind::Name;
  if (!isReduce && !isCall) {
    error(right.loc, "expected a distribution, for example categorical(...)");
    return;
  }
  choice.distribution = isReduce ? right.name.str() : right.args[0]->name.str();
  static constexpr StringRef known[] = {"categorical", "bernoulli", "normal",
                                        "uniform", "mixture"};
  if (!llvm::is_contained(known, choice.distribution)) {
    StringRef near = nearest(choice.distribution, known);
    error(right.loc,
          "'" + choice.distribution + "' is no distribution" +
              (near.empty() ? std::string("")
                            : "; did you mean '" + near.str() + "'?"));
    return;
  }
  // Indices that the distribution binds: its support.
  const Bindings *inner = bindings;
  SmallVector<IndexVar *, 1> vars;
  for (const ast::Binder &binder : right.binders) {
    IndexVar *var = newIndex(binder.name, binder.loc);
    if (binder.extent) {
      var->extent = size(*binder.extent, scope, bindings);
      var->strength = 1;
      var->originLoc = binder.loc;
      var->origin = binder.name.str();
    }
    bindingStorage.push_back({inner, binder.name, var, std::nullopt, false});
    inner = &bindingStorage.back();
    vars.push_back(var);
  }
  auto stacked = [&](Term *term) {
    if (!term || vars.empty())
      return term;
    Term *stack = make(TermKind::Stack, term->loc, {term});
    stack->vars = vars;
    computeFree(stack);
    return stack;
  };
  static const std::map<std::string, std::vector<std::string>> parameters = {
      {"categorical", {"logits", "probs"}},
      {"bernoulli", {"prob", "logit"}},
      {"normal", {"mean", "sd"}},
      {"uniform", {"low", "high", "size"}},
      {"mixture", {"logit"}}};
  const std::vector<std::string> &names = parameters.at(choice.distribution);
  unsigned position = 0;
  for (const ast::Item &item : right.items) {
    std::string name = item.name.str();
    if (name.empty() && item.value->kind == ExprKind::Call &&
        item.value->args[0]->kind == ExprKind::Name &&
        item.value->args[0]->name == "bivariate") {
      static constexpr const char *parts[] = {"mean", "sd", "correlation"};
      for (auto [k, part] : llvm::enumerate(item.value->items))
        if (k < 3)
          if (Term *term = stacked(expression(*part.value, scope, inner)))
            choice.parameters.push_back({parts[k], term});
      if (item.value->items.size() != 3)
        error(item.loc, "'bivariate' takes a mean, a deviation and a "
                        "correlation but gets " +
                            std::to_string(item.value->items.size()) +
                            " values");
      continue;
    }
    if (name.empty())
      name = position < names.size() ? names[position] : "";
    ++position;
    if (!llvm::is_contained(names, name)) {
      std::vector<StringRef> candidates(names.begin(), names.end());
      StringRef near = nearest(name, candidates);
      error(item.loc,
            "'" + choice.distribution + "' has no parameter '" + name + "'" +
                (near.empty() ? std::string("")
                              : "; did you mean '" + near.str() + "'?"));
      continue;
    }
    if (Term *term = stacked(expression(*item.value, scope, inner)))
      choice.parameters.push_back({name, term});
  }
  if (choice.parameters.empty())
    return;
  target->generated = !choice.latent;
  target->latent = choice.latent;
  if (choice.latent) {
    target->loc = choice.loc;
    target->kind = choice.distribution == "categorical" ? Kind::Int
                   : choice.distribution == "bernoulli" ? Kind::Bit
                                                        : Kind::Real;
    Piece piece;
    piece.places = places;
    piece.loc = choice.loc;
    if (!s.guide && places.size() == target->numPlaces)
      target->pieces.push_back(piece);
  }
  model->choices.push_back(std::move(choice));
}
