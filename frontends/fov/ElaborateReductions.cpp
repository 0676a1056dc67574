//===- ElaborateReductions.cpp - what binds an index ---------------------===//
//
// Reductions, normalisers, stack and concat.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Elaborate.h"
#include "frontends/fov/Options.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

static std::optional<Reduction> reductionOf(StringRef name) {
  return llvm::StringSwitch<std::optional<Reduction>>(name)
      .Case("sum", Reduction::Sum)
      .Case("prod", Reduction::Prod)
      .Case("mean", Reduction::Mean)
      .Case("max", Reduction::Max)
      .Case("min", Reduction::Min)
      .Case("argmax", Reduction::Argmax)
      .Case("argmin", Reduction::Argmin)
      .Case("any", Reduction::Any)
      .Case("all", Reduction::All)
      .Case("logsumexp", Reduction::Logsumexp)
      .Case("softmax", Reduction::Softmax)
      .Case("log_softmax", Reduction::LogSoftmax)
      .Case("cumsum", Reduction::Cumsum)
      .Default(std::nullopt);
}

/// A reduction over members: written out.
Term *Elaborator::staticReduce(const Expr &expr, unsigned position,
                               int64_t extent, Scope &scope,
                               const Bindings *bindings) {
  const ast::Binder &binder = expr.binders[position];
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
    if (expr.condition) {
      error(expr.condition->loc, "a condition over members is not supported; "
                                 "write the members out");
      return nullptr;
    }
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
  Term *result = parts[0];
  for (Term *part : ArrayRef(parts).drop_front())
    result = map(it->second, {result, part}, expr.loc);
  if (expr.name == "mean")
    result =
        map(Fn::Div, {result, number(parts.size(), expr.loc, true)}, expr.loc);
  return result;
}

Term *Elaborator::reduceTerm(const Expr &expr, Scope &scope,
                             const Bindings *bindings) {
  if (expr.items.size() != 1 || !expr.items[0].name.empty()) {
    error(expr.loc, "'" + expr.name.str() + "[...]' takes one value");
    return nullptr;
  }
  std::optional<Reduction> reduction = reductionOf(expr.name);
  bool stacks = expr.name == "stack" || expr.name == "concat";
  if (!reduction && !stacks) {
    error(expr.loc, "'" + expr.name.str() +
                        "[...]' is a distribution; it stands behind '~'");
    return nullptr;
  }
  bool normalises = reduction && isNormaliser(*reduction);
  if (normalises && expr.binders.size() != 1 && expr.name == "cumsum") {
    error(expr.loc, "'cumsum' runs along one index");
    return nullptr;
  }
  for (auto [k, binder] : llvm::enumerate(expr.binders)) {
    auto it = staticExtents.find({&binder, binder.name.str()});
    if (it != staticExtents.end()) {
      if (k > 0) {
        error(binder.loc, "'" + binder.name.str() +
                              "' selects members, so it stands first");
        return nullptr;
      }
      return staticReduce(expr, k, it->second, scope, bindings);
    }
  }
  const Bindings *inner = bindings;
  SmallVector<IndexVar *, 1> vars;
  SmallVector<Term *, 2> components;
  for (const ast::Binder &binder : expr.binders) {
    const Bindings *bound = nullptr;
    for (const Bindings *b = bindings; b; b = b->outer)
      if (b->name == binder.name) {
        bound = b;
        break;
      }
    Symbol *symbol = lookup(scope, binder.name);
    if (symbol && symbol->kind == Symbol::Equations && !bound) {
      error(binder.loc,
            "index '" + binder.name.str() + "' has the name of the equation " +
                binder.name.str() + " (line " +
                std::to_string(diagnostics.lineOf(symbol->loc)) +
                "); use another letter, for example 'j'",
            {{symbol->loc, "'" + binder.name.str() + "' is defined here"}});
      return nullptr;
    }
    IndexVar *var = newIndex(binder.name, binder.loc);
    if (bound && !(normalises && bound->var)) {
      error(binder.loc, "index '" + binder.name.str() +
                            "' is already bound on the left of this equation; "
                            "a " +
                            (stacks ? expr.name.str() : "sum") +
                            " needs a new name: " + expr.name.str() +
                            "[j](...)");
      return nullptr;
    }
    if (bound) {
      var->like = bound->var;
      components.push_back(boundIndex(bound->var, binder.loc));
    }
    if (binder.extent) {
      var->extent = size(*binder.extent, scope, bindings);
      if (!var->extent)
        return nullptr;
      // W[m]: a nested length with its parent's index.
      if (binder.extent->kind == ExprKind::Index && var->extent->length())
        var->parentIndex = expression(*binder.extent->args[1], scope, bindings);
      var->strength = 1;
      var->originLoc = binder.loc;
      var->origin = binder.name.str() + " < " + var->extent->text();
    }
    bindingStorage.push_back({inner, binder.name, var, std::nullopt, false});
    inner = &bindingStorage.back();
    vars.push_back(var);
  }
  Term *body = expression(*expr.items[0].value, scope, inner);
  Term *condition =
      expr.condition ? expression(*expr.condition, scope, inner) : nullptr;
  if (!body || (expr.condition && !condition))
    return nullptr;
  if (stacks && condition) {
    error(expr.condition->loc, "'" + expr.name.str() +
                                   "' takes no condition; every element has "
                                   "its place");
    return nullptr;
  }
  if (reduction) {
    for (auto [k, var] : llvm::enumerate(vars)) {
      bool used = llvm::is_contained(body->free, var) ||
                  (condition && llvm::is_contained(condition->free, var));
      if (used)
        continue;
      Term *term = body;
      std::string shown;
      if (expr.items[0].value->range.isValid()) {
        const auto &range = expr.items[0].value->range;
        shown = std::string(range.Start.getPointer(), range.End.getPointer());
      }
      std::string fixed = shown;
      if (!fixed.empty() && fixed.back() == ']')
        fixed = fixed.substr(0, fixed.size() - 1) + "," + var->name + "]";
      else
        fixed += "[" + var->name + "]";
      bool simple = expr.items[0].value->kind == ExprKind::Index ||
                    expr.items[0].value->kind == ExprKind::Name;
      error(expr.loc, "'" + expr.name.str() + "[" + var->name +
                          "]' is over number " + shown +
                          ", which does not use " + var->name +
                          (simple ? "; write " + fixed : std::string()));
      (void)term;
      return nullptr;
    }
  }
  Term *term;
  if (stacks) {
    term = make(TermKind::Stack, expr.loc, {body});
    term->vars = vars;
    computeFree(term);
    if (expr.name == "concat") {
      term = make(TermKind::Flatten, expr.loc, {term});
      term->vars = vars; // how many axes; they are bound below
      computeFree(term);
    }
  } else {
    term = make(TermKind::Reduce, expr.loc, {body});
    term->reduction = *reduction;
    term->vars = vars;
    term->condition = condition;
    computeFree(term);
  }
  if (!components.empty())
    term = index(term, components, expr.loc);
  return term;
}
