//===- ElaborateReductions.cpp - what binds an index ---------------------===//
//
// Reductions, normalisers, stack and concat.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"

#include <limits>

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

/// The values of the members of a reduction, and their conditions; those whose
/// condition is false before anything runs are left out. Returns false after an
/// error.
bool Elaborator::expandMembers(const Expr &expr, int64_t extent, Scope &scope,
                               const Bindings *bindings, Members &members) {
  const ast::Binder &binder = expr.binders[0];
  bool isNested = expr.binders.size() > 1;
  for (int64_t k = 0; k < extent; ++k) {
    bindingStorage.push_back({bindings, binder.name, nullptr, k, false});
    const Bindings *inner = &bindingStorage.back();
    Term *condition = nullptr;
    if (expr.condition && !isNested &&
        !(condition = expression(*expr.condition, scope, inner)))
      return false;
    if (std::optional<bool> known = condition ? truth(*condition) : true) {
      if (!*known)
        continue;
      condition = nullptr;
    }
    Term *value;
    if (isNested) {
      // concat[g,y,x] is the concat over g of concat[y,x].
      Expr rest = expr;
      rest.binders = expr.binders.drop_front();
      value = reduceTerm(rest, scope, inner);
    } else {
      value = expression(*expr.items[0].value, scope, inner);
    }
    if (!value)
      return false;
    members.places.push_back(k);
    members.values.push_back(value);
    members.conditions.push_back(condition);
  }
  if (!members.values.empty())
    return true;
  error(Code::memberIndex, binder.loc,
        "'" + binder.name.str() + "' has no members here");
  return false;
}

/// What a member adds whose condition is false, or nothing.
static std::optional<double> neutralElement(StringRef reducer) {
  static const std::map<StringRef, double> elements = {
      {"sum", 0.0},
      {"prod", 1.0},
      {"max", -std::numeric_limits<double>::infinity()},
      {"min", std::numeric_limits<double>::infinity()}};
  auto it = elements.find(reducer);
  return it == elements.end() ? std::nullopt : std::optional(it->second);
}

/// Reports a reducer of an index that is bound outside of it.
bool Elaborator::isBoundTwice(const Expr &expr, const ast::Binder &binder,
                              Scope &scope, const Bindings *bindings) {
  const Bindings *bound = bindings;
  while (bound && bound->name != binder.name)
    bound = bound->outer;
  if (!bound)
    return false;
  bool vowel = StringRef("aeiou").contains(expr.name.front());
  error(Code::boundTwice, binder.loc,
        "index '" + binder.name.str() +
            "' is already bound on the left of this equation; " +
            (vowel ? "an " : "a ") + expr.name.str() +
            " needs a new name: " + expr.name.str() + "[" +
            freeLetter(scope, bindings).str() + "](...)");
  return true;
}

/// Expands a reduction over members: values of any shape are combined in pairs;
/// where the reducer needs all at once, numbers become a vector.
Term *Elaborator::staticReduce(const Expr &expr, const Extent &extent,
                               Scope &scope, const Bindings *bindings) {
  static const std::map<StringRef, Fn> folds = {
      {"sum", Fn::Add}, {"mean", Fn::Add}, {"prod", Fn::Mul}, {"max", Fn::Max},
      {"min", Fn::Min}, {"any", Fn::Or},   {"all", Fn::And}};
  StringRef name = expr.name;
  std::optional<Reduction> reduction = reductionNamed(name);
  if (!(reduction && isNormaliser(*reduction)) &&
      isBoundTwice(expr, expr.binders[0], scope, bindings))
    return nullptr;
  auto it = folds.find(name);
  bool isNested = expr.binders.size() > 1;
  if (isNested && it == folds.end() && name != "concat") {
    error(Code::reductionForm, expr.binders[0].loc,
          "'" + expr.binders[0].name.str() +
              "' selects members, so it is the only index of its " +
              name.str() +
              (name == "logsumexp"
                   ? "; help: write one inside the other, logsumexp[" +
                         expr.binders[0].name.str() + "](logsumexp[" +
                         expr.binders[1].name.str() + "](...))"
                   : ""));
    return nullptr;
  }
  const Bindings *bound = bindings;
  while (bound && bound->name != expr.binders[0].name)
    bound = bound->outer;
  if (bound)
    return componentOf(expr, extent, *bound, scope, bindings);
  Members members;
  if (!expandMembers(expr, extent.value().value_or(0), scope, bindings,
                     members))
    return nullptr;
  bool isFiltered =
      llvm::any_of(members.conditions, [](const Term *each) { return each; });
  if (it == folds.end() && name != "concat")
    return reduceVector(expr, extent, members);
  if (isFiltered && (name == "mean" || name == "any" || name == "all"))
    return reduceVector(expr, extent, members);
  Terms parts = members.values;
  if (name == "concat") {
    Term *joined = make(TermKind::Join, expr.loc, parts);
    joined->extent = extent;
    return joined;
  }
  for (auto [part, condition] : llvm::zip(parts, members.conditions))
    if (condition)
      part = make(TermKind::If, part->loc,
                  {condition, part,
                   number(*neutralElement(name), part->loc,
                          name == "sum" || name == "prod")});
  // Split into halves: 4,096 members must not be nested as deep.
  int64_t count = parts.size();
  while (parts.size() > 1) {
    Terms pairs;
    for (size_t k = 0; k + 1 < parts.size(); k += 2)
      pairs.push_back(map(it->second, {parts[k], parts[k + 1]}, expr.loc));
    if (parts.size() % 2)
      pairs.push_back(parts.back());
    parts = pairs;
  }
  Term *result = parts[0];
  if (name == "mean")
    result =
        map(Fn::Div, {result, number(double(count), expr.loc, true)}, expr.loc);
  return result;
}

/// The component of a normaliser over members at the index that is bound
/// outside: sum[m](softmax[m](e[m]) * v[m]) has one softmax for all m.
Term *Elaborator::componentOf(const Expr &expr, const Extent &extent,
                              const Bindings &bound, Scope &scope,
                              const Bindings *bindings) {
  std::vector<std::pair<const void *, int64_t>> key{{&expr, 0}, {&scope, 0}};
  for (const Bindings *b = bindings; b; b = b->outer)
    if (b != &bound)
      key.push_back({b->var, b->number.value_or(-1)});
  Term *&whole = normalisers[key];
  if (!whole) {
    Members members;
    if (!expandMembers(expr, extent.value().value_or(0), scope, bindings,
                       members))
      return nullptr;
    whole = reduceVector(expr, extent, members);
  }
  SMLoc loc = expr.binders[0].loc;
  if (bound.var)
    whole->vars[0]->like = bound.var;
  return index(whole,
               {bound.var ? boundIndex(bound.var, loc)
                          : number(double(*bound.number), loc, true)},
               expr.loc);
}

/// softmax, argmax, .. of one number per member, as the same reducer over the
/// vector of these numbers.
Term *Elaborator::reduceVector(const Expr &expr, const Extent &extent,
                               const Members &members) {
  const ast::Binder &binder = expr.binders[0];
  std::optional<Reduction> reduction = reductionNamed(expr.name);
  // If a place of a member is left out, it names no member.
  int64_t all = extent.value().value_or(0);
  bool keepsPlaces = !reduction || isNormaliser(*reduction) ||
                     reduction == Reduction::Argmax ||
                     reduction == Reduction::Argmin;
  Terms values, conditions;
  size_t next = 0;
  for (int64_t place = 0; place < all; ++place) {
    bool isMember =
        next < members.places.size() && members.places[next] == place;
    if (!isMember && !keepsPlaces)
      continue;
    auto truthAt = [&](bool value) {
      Term *term = number(value, expr.loc, true);
      term->kindOf = Kind::Bit;
      return term;
    };
    values.push_back(isMember ? members.values[next]
                              : number(0, expr.loc, true));
    Term *condition = isMember ? members.conditions[next] : nullptr;
    conditions.push_back(condition ? condition : truthAt(isMember));
    next += isMember;
  }
  bool isWhole = llvm::all_of(conditions, [](const Term *each) {
    return each->kind == TermKind::Number && each->number == 1;
  });
  IndexVar *var = newIndex(binder.name, binder.loc);
  var->extent =
      values.size() == size_t(all) ? extent : Extent(int64_t(values.size()));
  var->strength = 1;
  var->originLoc = binder.loc;
  var->origin = binder.name.str() + " < " + var->extent->text();
  auto rowsOf = [&](ArrayRef<Term *> parts) {
    Term *rows = make(TermKind::Join, expr.loc, parts);
    rows->isMembers = true;
    rows->extent = *var->extent;
    rows->range = expr.items[0].value->range;
    return rows;
  };
  if (!reduction)
    return rowsOf(values);
  auto elementOf = [&](ArrayRef<Term *> parts) {
    return index(rowsOf(parts), {boundIndex(var, binder.loc)}, expr.loc);
  };
  Term *term = make(TermKind::Reduce, expr.loc, {elementOf(values)});
  term->vars.push_back(var);
  term->condition = isWhole ? nullptr : elementOf(conditions);
  term->reduction = *reduction;
  findFree(*term);
  return term;
}

/// `i < extent` of a binder. False after a mistake.
bool Elaborator::stateExtent(IndexVar *var, const ast::Binder &binder,
                             Scope &scope, const Bindings *bindings) {
  if (!binder.extent)
    return true;
  var->extent = size(*binder.extent, scope, bindings);
  if (!var->extent)
    return false;
  var->strength = 1;
  var->originLoc = binder.loc;
  var->origin = binder.name.str() + " < " + var->extent->text();
  return stateParent(var, *binder.extent, scope, bindings);
}

/// The m of `j < W[m]`, a nested length. Returns false after an error.
bool Elaborator::stateParent(IndexVar *var, const Expr &bound, Scope &scope,
                             const Bindings *bindings) {
  const Atom *length = var->extent->length();
  if (!length || length->parent.empty() || bound.kind != ExprKind::Index)
    return true;
  var->parentIndex = expression(*bound.args[1], scope, bindings);
  return var->parentIndex;
}

/// A new index for each binder. A normaliser over a bound index yields its
/// component there. Returns false after an error.
bool Elaborator::bindReduction(const Expr &expr, bool normalises, Scope &scope,
                               const Bindings *&bindings,
                               SmallVector<IndexVar *, 1> &vars,
                               SmallVector<Term *, 2> &components) {
  const Bindings *outer = bindings;
  for (const ast::Binder &binder : expr.binders) {
    const Bindings *bound = nullptr;
    for (const Bindings *b = outer; b && !bound; b = b->outer)
      if (b->name == binder.name)
        bound = b;
    Symbol *symbol = bound ? nullptr : lookup(scope, binder.name);
    if (symbol && symbol->kind != Symbol::Def) {
      indexNamed(binder.name, binder.loc, *symbol, scope, bindings);
      return false;
    }
    if (bound && !(normalises && bound->var)) {
      isBoundTwice(expr, binder, scope, bindings);
      return false;
    }
    if (llvm::any_of(vars, [&](IndexVar *other) {
          return other->name == binder.name;
        })) {
      error(Code::boundTwice, binder.loc,
            "index '" + binder.name.str() + "' is bound twice here");
      return false;
    }
    IndexVar *var = newIndex(binder.name, binder.loc);
    if (bound) {
      var->like = bound->var;
      components.push_back(boundIndex(bound->var, binder.loc));
    }
    if (!stateExtent(var, binder, scope, bindings))
      return false;
    bindingStorage.push_back({bindings, binder.name, var, std::nullopt, false});
    bindings = &bindingStorage.back();
    vars.push_back(var);
  }
  // The components are selected from the first axes.
  SmallVector<IndexVar *, 1> ordered;
  for (bool isBound : {true, false})
    for (IndexVar *var : vars)
      if ((var->like != nullptr) == isBound)
        ordered.push_back(var);
  vars = ordered;
  return true;
}

/// GRAMMAR 8.13: the reduced term must depend on the index. Returns false after
/// an error.
bool Elaborator::checkUse(const Expr &expr, const IndexVar &var,
                          const Term &body, const Term *condition) {
  auto uses = [&](const Term *term) {
    return term && llvm::any_of(term->free, [&](const IndexVar *each) {
             return each == &var;
           });
  };
  if (uses(&body) || uses(condition))
    return true;
  const Expr &value = *expr.items[0].value;
  std::string shown(value.range.Start.getPointer(),
                    value.range.End.getPointer());
  std::string text = "'" + expr.name.str() + "[" + var.name +
                     "]' is over number " + shown + ", which does not use " +
                     var.name;
  if (value.kind == ExprKind::Index)
    text += "; help: write " + shown.substr(0, shown.size() - 1) + "," +
            var.name + "]";
  else if (value.kind == ExprKind::Name)
    text += "; help: write " + shown + "[" + var.name + "]";
  error(Code::unusedIndex, expr.loc, text);
  return false;
}

Term *Elaborator::reduceTerm(const Expr &expr, Scope &scope,
                             const Bindings *bindings) {
  std::optional<Reduction> reduction = reductionNamed(expr.name);
  bool stacks = expr.name == "stack" || expr.name == "concat";
  if (!reduction && !stacks) {
    error(Code::reductionForm, expr.loc,
          "'" + expr.name.str() +
              "[...]' is a distribution; it belongs after '~'");
    return nullptr;
  }
  if (expr.items.size() != 1 || !expr.items[0].name.empty()) {
    error(Code::numberOfArguments, expr.loc,
          "'" + expr.name.str() + "[...]' takes one value");
    return nullptr;
  }
  if (expr.name == "cumsum" && expr.binders.size() != 1) {
    error(Code::reductionForm, expr.loc, "'cumsum' runs along one index");
    return nullptr;
  }
  if (stacks && expr.condition) {
    error(Code::misplacedCondition, expr.condition->loc,
          "'" + expr.name.str() +
              "' takes no condition; every element has "
              "its place");
    return nullptr;
  }
  for (auto [k, binder] : llvm::enumerate(expr.binders)) {
    auto it = staticExtents.find({&binder, binder.name.str()});
    if (it == staticExtents.end())
      continue;
    if (k == 0) {
      // `sum[m < l](..)` has as many members as its own l says.
      std::optional<Extent> stated =
          binder.extent ? size(*binder.extent, scope, bindings) : it->second;
      return stated ? staticReduce(expr, *stated, scope, bindings) : nullptr;
    }
    error(Code::reductionForm, binder.loc,
          "'" + binder.name.str() + "' selects members, so it comes first");
    return nullptr;
  }
  SmallVector<IndexVar *, 1> vars;
  SmallVector<Term *, 2> components;
  const Bindings *inner = bindings;
  if (!bindReduction(expr, reduction && isNormaliser(*reduction), scope, inner,
                     vars, components))
    return nullptr;
  Term *body = expression(*expr.items[0].value, scope, inner);
  Term *condition =
      expr.condition ? expression(*expr.condition, scope, inner) : nullptr;
  if (!body || (expr.condition && !condition))
    return nullptr;
  if (reduction)
    for (IndexVar *var : vars)
      if (!checkUse(expr, *var, *body, condition))
        return nullptr;
  Term *term =
      make(stacks ? TermKind::Stack : TermKind::Reduce, expr.loc, {body});
  term->vars = vars;
  term->condition = condition;
  if (reduction)
    term->reduction = *reduction;
  findFree(*term);
  if (expr.name == "concat") {
    term = make(TermKind::Flatten, expr.loc, {term});
    term->vars = vars; // how many axes; they are bound below
    findFree(*term);
  }
  return components.empty() ? term : index(term, components, expr.loc);
}
