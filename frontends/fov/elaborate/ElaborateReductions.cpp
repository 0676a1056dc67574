//===- ElaborateReductions.cpp - what binds an index ---------------------===//
//
// Reductions, normalisers, stack and concat.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

/// Expands a reduction over members.
Term *Elaborator::staticReduce(const Expr &expr, int64_t extent, Scope &scope,
                               const Bindings *bindings) {
  const ast::Binder &binder = expr.binders[0];
  if (expr.condition) {
    error(expr.condition->loc, "a condition over members is not supported; "
                               "write the members out");
    return nullptr;
  }
  Terms parts;
  for (int64_t k = 0; k < extent; ++k) {
    bindingStorage.push_back({bindings, binder.name, nullptr, k, false});
    const Bindings *inner = &bindingStorage.back();
    Term *part;
    if (expr.binders.size() > 1) {
      // concat[g,y,x] is the concat over g of concat[y,x].
      Expr rest = expr;
      rest.binders = expr.binders.drop_front();
      part = reduceTerm(rest, scope, inner);
    } else {
      part = expression(*expr.items[0].value, scope, inner);
    }
    if (!part)
      return nullptr;
    parts.push_back(part);
  }
  if (parts.empty()) {
    error(binder.loc, "'" + binder.name.str() + "' has no members here");
    return nullptr;
  }
  if (expr.name == "concat")
    return make(TermKind::Join, expr.loc, parts);
  static const std::map<StringRef, Fn> folds = {
      {"sum", Fn::Add}, {"mean", Fn::Add}, {"prod", Fn::Mul}, {"max", Fn::Max},
      {"min", Fn::Min}, {"any", Fn::Or},   {"all", Fn::And}};
  auto it = folds.find(expr.name);
  if (it == folds.end()) {
    error(expr.loc,
          "'" + expr.name.str() +
              "' over the members of a family is "
              "not supported; use sum, mean, prod, max, min or concat");
    return nullptr;
  }
  // Split into halves: 4,096 members must not be nested as deep.
  while (parts.size() > 1) {
    Terms pairs;
    for (size_t k = 0; k + 1 < parts.size(); k += 2)
      pairs.push_back(map(it->second, {parts[k], parts[k + 1]}, expr.loc));
    if (parts.size() % 2)
      pairs.push_back(parts.back());
    parts = pairs;
  }
  Term *result = parts[0];
  if (expr.name == "mean")
    result = map(Fn::Div, {result, number(double(extent), expr.loc, true)},
                 expr.loc);
  return result;
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
      bool vowel = StringRef("aeiou").contains(expr.name.front());
      error(binder.loc,
            "index '" + binder.name.str() +
                "' is already bound on the left of this equation; " +
                (vowel ? "an " : "a ") + expr.name.str() +
                " needs a new name: " + expr.name.str() + "[" +
                freeLetter(scope, bindings).str() + "](...)");
      return false;
    }
    if (llvm::any_of(vars, [&](IndexVar *other) {
          return other->name == binder.name;
        })) {
      error(binder.loc, "index '" + binder.name.str() + "' stands here twice");
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
    text +=
        "; write " + shown.substr(0, shown.size() - 1) + "," + var.name + "]";
  else if (value.kind == ExprKind::Name)
    text += "; write " + shown + "[" + var.name + "]";
  error(expr.loc, text);
  return false;
}

Term *Elaborator::reduceTerm(const Expr &expr, Scope &scope,
                             const Bindings *bindings) {
  std::optional<Reduction> reduction = reductionNamed(expr.name);
  bool stacks = expr.name == "stack" || expr.name == "concat";
  if (!reduction && !stacks) {
    error(expr.loc, "'" + expr.name.str() +
                        "[...]' is a distribution; it belongs after '~'");
    return nullptr;
  }
  if (expr.items.size() != 1 || !expr.items[0].name.empty()) {
    error(expr.loc, "'" + expr.name.str() + "[...]' takes one value");
    return nullptr;
  }
  if (expr.name == "cumsum" && expr.binders.size() != 1) {
    error(expr.loc, "'cumsum' runs along one index");
    return nullptr;
  }
  if (stacks && expr.condition) {
    error(expr.condition->loc, "'" + expr.name.str() +
                                   "' takes no condition; every element has "
                                   "its place");
    return nullptr;
  }
  for (auto [k, binder] : llvm::enumerate(expr.binders)) {
    auto it = staticExtents.find({&binder, binder.name.str()});
    if (it == staticExtents.end())
      continue;
    if (k == 0)
      return staticReduce(expr, it->second, scope, bindings);
    error(binder.loc,
          "'" + binder.name.str() + "' selects members, so it stands first");
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
  computeFree(term);
  if (expr.name == "concat") {
    term = make(TermKind::Flatten, expr.loc, {term});
    term->vars = vars; // how many axes; they are bound below
    computeFree(term);
  }
  return components.empty() ? term : index(term, components, expr.loc);
}
