//===- ElaborateCalls.cpp - functions, defs and modules -------------------===//
//
// A call of a def is inlined: its equations without places are names for
// values, and its equations with places become arrays of their own, with the
// caller's indices as context.
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
using ast::Statement;
using ast::StatementKind;

std::optional<Fn> fovea::fov::unaryFunction(StringRef name) {
  return llvm::StringSwitch<std::optional<Fn>>(name)
      .Case("tanh", Fn::Tanh)
      .Case("sigmoid", Fn::Sigmoid)
      .Case("exp", Fn::Exp)
      .Case("log", Fn::Log)
      .Case("sqrt", Fn::Sqrt)
      .Case("abs", Fn::Abs)
      .Case("sin", Fn::Sin)
      .Case("cos", Fn::Cos)
      .Case("relu", Fn::Relu)
      .Case("softplus", Fn::Softplus)
      .Case("erf", Fn::Erf)
      .Case("round", Fn::Round)
      .Case("floor", Fn::Floor)
      .Case("int", Fn::ToInt)
      .Case("stop", Fn::Stop)
      .Default(std::nullopt);
}

StringRef fovea::fov::fnName(Fn fn) {
  static constexpr StringRef names[] = {
      "+",        "-",   "*",     "/",     "//",  "mod",  "^",
      "-",        "and", "or",    "not",   "<",   "<=",   ">",
      ">=",       "==",  "!=",    "min",   "max", "tanh", "sigmoid",
      "exp",      "log", "sqrt",  "abs",   "sin", "cos",  "relu",
      "softplus", "erf", "round", "floor", "int", "stop"};
  return names[unsigned(fn)];
}

//===----------------------------------------------------------------------===//
// Functions that are no defs
//===----------------------------------------------------------------------===//

Elaborator::Terms Elaborator::builtin(const Expr &expr, StringRef name,
                                      Scope &scope, const Bindings *bindings,
                                      bool &known) {
  known = llvm::is_contained(builtinNames(), name);
  if (!known)
    return {};
  SMLoc loc = expr.loc;
  size_t given = expr.items.size();
  auto wants = [&](size_t low, size_t high) {
    if (given >= low && given <= high)
      return true;
    error(loc, "'" + name.str() + "' takes " +
                   (low == high
                        ? std::to_string(low)
                        : std::to_string(low) + " to " + std::to_string(high)) +
                   (high == 1 ? " value" : " values") + " but gets " +
                   std::to_string(given));
    return false;
  };
  // Shapes: zeros(H), zeros(R, C).
  if (name == "zeros" || name == "ones") {
    Term *term = make(TermKind::Fill, loc);
    term->number = name == "ones";
    for (const ast::Item &item : expr.items) {
      std::optional<Extent> extent = size(*item.value, scope, bindings);
      if (!extent)
        return {};
      term->sizes.push_back(*extent);
    }
    return {term};
  }
  SmallVector<Term *, 4> args;
  unsigned numTerms =
      name == "fold" || name == "cut" ? std::min<size_t>(given, 1) : given;
  for (unsigned k = 0; k < numTerms; ++k) {
    const ast::Item &item = expr.items[k];
    if (!item.name.empty()) {
      error(item.loc,
            "'" + name.str() + "' has no argument '" + item.name.str() + "'");
      return {};
    }
    Term *arg = expression(*item.value, scope, bindings);
    if (!arg)
      return {};
    args.push_back(arg);
  }
  if (std::optional<Fn> fn = unaryFunction(name)) {
    if (!wants(1, 1))
      return {};
    return {map(*fn, args, loc)};
  }
  if (name == "max" || name == "min") {
    Fn fn = name == "max" ? Fn::Max : Fn::Min;
    if (!wants(1, 64))
      return {};
    if (given > 1) {
      Term *result = args[0];
      for (Term *arg : ArrayRef(args).drop_front())
        result = map(fn, {result, arg}, loc);
      return {result};
    }
  }
  if (name == "clamp") {
    if (!wants(3, 3))
      return {};
    return {
        map(Fn::Min, {map(Fn::Max, {args[0], args[1]}, loc), args[2]}, loc)};
  }
  if (name == "dot") {
    if (!wants(2, 2))
      return {};
    return {dotTerm(args[0], args[1], loc)};
  }
  if (name == "onehot") {
    if (!wants(1, 1))
      return {};
    return {make(TermKind::Onehot, loc, args)};
  }
  if (name == "dropout") {
    if (!wants(2, 2))
      return {};
    Term *term = make(TermKind::Dropout, loc, args);
    auto [it, inserted] = dropoutOrdinals.try_emplace(&expr, nextOrdinal);
    if (inserted)
      ++nextOrdinal;
    term->ordinal = it->second;
    // A call of a def, or a member of a family, draws for itself.
    if (!inserted)
      term->ordinal = nextOrdinal++;
    return {term};
  }
  if (name == "fold") {
    if (!wants(2, 3))
      return {};
    Term *term = make(TermKind::Fold, loc, args);
    for (const ast::Item &item : expr.items.drop_front()) {
      std::optional<Extent> extent = size(*item.value, scope, bindings);
      if (!extent)
        return {};
      term->sizes.push_back(*extent);
    }
    return {term};
  }
  if (name == "cut") {
    if (!wants(2, 64))
      return {};
    Terms results;
    Extent offset(int64_t(0));
    for (const ast::Item &item : expr.items.drop_front()) {
      Term *part = make(TermKind::Slice, loc, args);
      part->offset = offset;
      Extent length(int64_t(1));
      const Expr &shape = *item.value;
      SmallVector<const Expr *, 2> axes;
      if (shape.kind == ExprKind::List)
        axes.append(shape.args.begin(), shape.args.end());
      else if (!(shape.kind == ExprKind::Name && shape.name == "scalar"))
        axes.push_back(&shape);
      for (const Expr *axis : axes) {
        std::optional<Extent> extent = size(*axis, scope, bindings);
        if (!extent)
          return {};
        part->sizes.push_back(*extent);
        length = length * *extent;
      }
      offset = offset + length;
      results.push_back(part);
    }
    // The parts make up the whole.
    model->bindings.push_back({args[0], {offset}, loc, "cut", {}});
    return results;
  }
  static const std::map<StringRef, Reduction> reductions = {
      {"sum", Reduction::Sum},         {"mean", Reduction::Mean},
      {"prod", Reduction::Prod},       {"max", Reduction::Max},
      {"min", Reduction::Min},         {"argmax", Reduction::Argmax},
      {"argmin", Reduction::Argmin},   {"logsumexp", Reduction::Logsumexp},
      {"softmax", Reduction::Softmax}, {"log_softmax", Reduction::LogSoftmax},
      {"cumsum", Reduction::Cumsum},   {"any", Reduction::Any},
      {"all", Reduction::All}};
  auto it = reductions.find(name);
  if (it != reductions.end()) {
    if (!wants(1, 1))
      return {};
    Term *term = make(TermKind::OverAxis, loc, args);
    term->reduction = it->second;
    return {term};
  }
  error(loc, "'" + name.str() + "' cannot be called here");
  return {};
}

Term *Elaborator::dotTerm(Term *a, Term *b, SMLoc loc) {
  Term *term = make(TermKind::Contract, loc, {a, b});
  term->isInteger = true; // both are vectors
  return term;
}

//===----------------------------------------------------------------------===//
// Defs
//===----------------------------------------------------------------------===//

Elaborator::Terms Elaborator::letTerms(Symbol &symbol, Scope &scope) {
  const Statement *s = symbol.statement;
  Scope *owner = &scope;
  while (owner && !owner->lets.count(s) &&
         !llvm::any_of(owner->symbols, [&](auto &entry) {
           return entry.second.kind == Symbol::Let &&
                  entry.second.statement == s;
         }))
    owner = owner->parent;
  if (!owner)
    owner = &scope;
  auto it = owner->lets.find(s);
  if (it == owner->lets.end()) {
    if (!owner->letsInProgress.insert(s).second) {
      error(symbol.loc, "'" + s->lefts[symbol.component].name.str() +
                            "' is defined by itself");
      return {};
    }
    Terms values = tuple(*s->value, *owner, nullptr);
    owner->letsInProgress.erase(s);
    if (values.size() == 1 && s->lefts.size() > 1) {
      Term *whole = values[0];
      values.clear();
      for (unsigned k = 0; k < s->lefts.size(); ++k)
        values.push_back(
            index(whole, {number(k, s->lefts[k].loc, true)}, s->lefts[k].loc));
      model->bindings.push_back(
          {whole, {Extent(int64_t(s->lefts.size()))}, s->lefts[0].loc, "", {}});
    } else if (!values.empty() && values.size() != s->lefts.size()) {
      error(s->value->loc, "the right side has " +
                               std::to_string(values.size()) +
                               " values but the left has " +
                               std::to_string(s->lefts.size()) + " names");
      values.clear();
    }
    it = owner->lets.try_emplace(s, values).first;
  }
  if (symbol.component >= it->second.size())
    return {};
  return {it->second[symbol.component]};
}

Elaborator::Terms Elaborator::callDef(const Statement &def, Instance *instance,
                                      ArrayRef<Term *> arguments,
                                      const llvm::StringMap<Symbol> &sizes,
                                      SMLoc loc, StringRef shownName) {
  if (arguments.size() != def.parameters.size()) {
    error(loc,
          "'" + shownName.str() + "' takes " +
              std::to_string(def.parameters.size()) +
              (def.parameters.size() == 1 ? " value" : " values") +
              " but gets " + std::to_string(arguments.size()),
          {{def.nameLoc, "'" + def.name.str() + "' is defined here"}});
    return {};
  }
  if (++callDepth > 64) {
    error(loc, "calls are nested more than 64 deep; does '" + def.name.str() +
                   "' call itself?");
    --callDepth;
    return {};
  }
  size_t firstTerm = model->terms.size();
  scopes.emplace_back();
  Scope *own = &scopes.back();
  own->isCall = true;
  own->instance = instance;
  own->parent = instance ? instance->parameters->parent : preludeScope;
  if (!instance)
    for (Scope &s : scopes)
      if (s.symbols.count(def.name) && s.symbols[def.name].statement == &def) {
        own->parent = &s;
        break;
      }
  unsigned &count = callCounts[instance ? instance->path : def.name.str()];
  own->prefix = (instance ? instance->path : def.name.str()) +
                (count == 0 ? "." : "#" + std::to_string(count + 1) + ".");
  ++count;
  for (auto &entry : sizes)
    own->symbols[entry.first()] = entry.second;
  if (instance) {
    if (!instance->firstCall.isValid())
      instance->firstCall = loc;
    for (auto &entry : instance->parameters->symbols)
      own->symbols[entry.first()] = entry.second;
  }
  for (auto [k, parameter] : llvm::enumerate(def.parameters)) {
    Term *argument = arguments[k];
    for (IndexVar *var : argument->free)
      if (!llvm::is_contained(own->context, var))
        own->context.push_back(var);
    if (parameter.hasShape) {
      if (parameter.shape.size() == 1) {
        Term *vector = make(TermKind::Vector, argument->loc, {argument});
        vector->range = argument->range;
        argument = vector;
      }
      SizeBinding binding;
      binding.term = argument;
      binding.loc = loc;
      binding.callee = shownName.str();
      binding.calleeLoc = instance && instance->firstCall != loc
                              ? instance->firstCall
                              : def.nameLoc;
      for (const Expr *axis : parameter.shape) {
        if (axis->kind == ExprKind::Integer) {
          binding.sizes.push_back(Extent(axis->integer));
          continue;
        }
        auto it = own->symbols.find(axis->name);
        // What no parameter's shape uses differs from call to call.
        bool isShared = instance && instance->firstUse.count(axis->name) &&
                        usedByParameters(*instance, axis->name);
        if (it == own->symbols.end() ||
            (instance && instance->firstUse.count(axis->name) && !isShared &&
             !freshSizes.count({own, axis->name.str()}))) {
          freshSizes.insert({own, axis->name.str()});
          own->symbols[axis->name] = {Symbol::Size, loc,
                                      Extent(model->sizes.open(axis->name))};
          it = own->symbols.find(axis->name);
        }
        if (it->second.kind != Symbol::Size) {
          error(axis->loc, "'" + axis->name.str() + "' is not a size");
          --callDepth;
          return {};
        }
        binding.sizes.push_back(it->second.size);
      }
      model->bindings.push_back(std::move(binding));
    }
    Symbol value{Symbol::Value, parameter.loc};
    value.value = argument;
    own->symbols[parameter.name] = value;
    if (instance) {
      auto it = instance->firstUse.find((parameter.name + ".vocab").str());
      if (it != instance->firstUse.end())
        model->vocabularyBindings.push_back({it->second, argument});
    }
  }
  Terms results;
  if (def.value) {
    results = tuple(*def.value, *own, nullptr);
  } else {
    Statements body;
    for (const Statement *s : def.body)
      if (s->kind != StatementKind::Param)
        body.push_back(s);
    declareAll(body, *own);
    findStaticIndices(body, *own);
    elaborateAll(body, *own);
    bool returned = false;
    for (const Statement *s : body)
      if (s->kind == StatementKind::Return) {
        returned = true;
        for (const Expr *value : s->values) {
          Term *term = expression(*value, *own, nullptr);
          if (!term) {
            --callDepth;
            return {};
          }
          results.push_back(term);
        }
        break;
      }
    if (!returned)
      error(def.nameLoc, "'" + def.name.str() + "' returns nothing");
  }
  // What the prelude computes is said to stand where it is called.
  auto known = preludeScope->symbols.find(def.name);
  if (known != preludeScope->symbols.end() && known->second.statement == &def)
    for (size_t k = firstTerm; k < model->terms.size(); ++k)
      model->terms[k].loc = loc;
  --callDepth;
  return results;
}

/// Whether a parameter of the module has this size.
bool Elaborator::usedByParameters(const Instance &instance, StringRef size) {
  SmallVector<const Expr *> work;
  for (const Statement *s : instance.params) {
    work.push_back(s->module);
    for (const ast::Axis &axis : s->array.axes)
      if (axis.extent)
        work.push_back(axis.extent);
  }
  while (!work.empty()) {
    const Expr *expr = work.pop_back_val();
    if (expr->kind == ExprKind::Name && expr->name == size)
      return true;
    work.append(expr->args.begin(), expr->args.end());
    for (const ast::Item &item : expr->items)
      work.push_back(item.value);
  }
  return false;
}

Elaborator::Terms Elaborator::call(const Expr &expr, Scope &scope,
                                   const Bindings *bindings) {
  const Expr &callee = *expr.args[0];
  auto arguments = [&](SmallVector<Term *, 4> &args) {
    for (const ast::Item &item : expr.items) {
      if (!item.name.empty()) {
        error(item.loc, "arguments of a call have no names here");
        return false;
      }
      Term *arg = expression(*item.value, scope, bindings);
      if (!arg)
        return false;
      args.push_back(arg);
    }
    return true;
  };

  // name(sizes)(args): a def without parameters, or a def with its sizes.
  if (callee.kind == ExprKind::Call && callee.args[0]->kind == ExprKind::Name) {
    Symbol *symbol = lookup(scope, callee.args[0]->name);
    if (symbol && symbol->kind == Symbol::Def) {
      const Statement &def = *symbol->statement;
      if (callee.items.size() != def.sizes.size()) {
        error(callee.loc,
              "'" + def.name.str() + "' takes " +
                  std::to_string(def.sizes.size()) + " sizes but gets " +
                  std::to_string(callee.items.size()),
              {{def.nameLoc, "it is defined here"}});
        return {};
      }
      llvm::StringMap<Symbol> sizes;
      for (auto [name, item] : llvm::zip(def.sizes, callee.items)) {
        std::optional<Symbol> argument =
            sizeArgument(*item.value, scope, bindings);
        if (!argument)
          return {};
        sizes[name] = *argument;
      }
      SmallVector<Term *, 4> args;
      if (!arguments(args) || !callable(def, callee.loc))
        return {};
      return callDef(def, nullptr, args, sizes, expr.loc, def.name);
    }
  }
  if (callee.kind == ExprKind::Name) {
    Symbol *symbol = lookup(scope, callee.name);
    for (const Bindings *b = bindings; b; b = b->outer)
      if (b->name == callee.name)
        symbol = nullptr;
    if (!symbol) {
      bool known;
      Terms results = builtin(expr, callee.name, scope, bindings, known);
      if (!known)
        undefined(callee.name, callee.loc, scope, bindings);
      return results;
    }
    if (symbol->kind == Symbol::Def) {
      const Statement &def = *symbol->statement;
      SmallVector<Term *, 4> args;
      if (!arguments(args) || !callable(def, callee.loc))
        return {};
      if (!def.sizes.empty()) {
        error(callee.loc,
              "'" + def.name.str() + "' needs its sizes: " + def.name.str() +
                  "(...)(...)",
              {{def.nameLoc, "it is defined here"}});
        return {};
      }
      return callDef(def, nullptr, args, {}, expr.loc, def.name);
    }
  }
  // A module: name, family member, or a part of an import.
  SmallVector<const Expr *, 2> indices;
  const Expr *base = &callee;
  if (base->kind == ExprKind::Index) {
    indices.append(base->args.begin() + 1, base->args.end());
    base = base->args[0];
  }
  if (base->kind != ExprKind::Name && base->kind != ExprKind::Member) {
    error(callee.loc, "this cannot be called");
    return {};
  }
  Path path;
  if (!resolvePath(*base, scope, bindings, path))
    return {};
  std::string shown(callee.range.Start.getPointer(),
                    callee.range.End.getPointer());
  if (path.symbol->kind != Symbol::Equations) {
    error(callee.loc, "'" + shown + "' cannot be called",
          {{path.symbol->loc, "it is declared here"}});
    return {};
  }
  Member member;
  SmallVector<const Expr *, 2> rest;
  if (!resolveMember(*path.symbol->family, indices, scope, bindings, callee.loc,
                     member, rest))
    return {};
  if (!member.instance || !rest.empty()) {
    error(callee.loc, "'" + shown + "' is not a module and cannot be called",
          {{path.symbol->loc, "it is declared here"}});
    return {};
  }
  SmallVector<Term *, 4> args;
  if (!arguments(args))
    return {};
  return callDef(*member.instance->def, member.instance, args,
                 member.instance->sizes, expr.loc, shown);
}

/// A def with parameters is instantiated by `param`, never called directly.
bool Elaborator::callable(const Statement &def, SMLoc loc) {
  for (const Statement *s : def.body)
    if (s->kind == StatementKind::Param) {
      error(loc,
            "'" + def.name.str() +
                "' has parameters: declare one by 'param NAME : " +
                def.name.str() + "(...)' and apply NAME",
            {{def.nameLoc, "it is defined here"}});
      return false;
    }
  return true;
}
