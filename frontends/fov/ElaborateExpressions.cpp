//===- ElaborateExpressions.cpp - right sides -----------------------------===//
//
// Names, indices, reductions and operators become terms. What needs a shape is
// left to Infer.cpp.
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

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Term *Elaborator::make(TermKind kind, SMLoc loc, ArrayRef<Term *> args) {
  model->terms.emplace_back();
  Term *term = &model->terms.back();
  term->kind = kind;
  term->loc = loc;
  term->args.append(args.begin(), args.end());
  computeFree(term);
  return term;
}

void Elaborator::computeFree(Term *term) {
  term->free.clear();
  auto add = [&](IndexVar *var) {
    if (!llvm::is_contained(term->vars, var) &&
        !llvm::is_contained(term->free, var))
      term->free.push_back(var);
  };
  if (term->kind == TermKind::Index && term->index)
    add(term->index);
  if (term->kind == TermKind::Read && term->array)
    for (IndexVar *var : term->array->context)
      add(var);
  for (Term *arg : term->args)
    for (IndexVar *var : arg->free)
      add(var);
  for (Term *part : {term->condition, term->fallback})
    if (part)
      for (IndexVar *var : part->free)
        add(var);
}

Term *Elaborator::number(double value, SMLoc loc, bool isInteger) {
  Term *term = make(TermKind::Number, loc);
  term->number = value;
  term->isInteger = isInteger;
  return term;
}

Term *Elaborator::sizeTerm(const Extent &extent, SMLoc loc) {
  Term *term = make(TermKind::Size, loc);
  term->extent = extent;
  return term;
}

Term *Elaborator::map(Fn fn, ArrayRef<Term *> args, SMLoc loc) {
  // Numbers fold: indices such as (3 - 1) // 2 must stay affine.
  if (llvm::all_of(args, [](Term *t) {
        return t->kind == TermKind::Number && !t->isSymbol;
      })) {
    double a = args[0]->number, b = args.size() > 1 ? args[1]->number : 0;
    bool whole = llvm::all_of(args, [](Term *t) { return t->isInteger; });
    std::optional<double> result;
    switch (fn) {
    case Fn::Add:
      result = a + b;
      break;
    case Fn::Sub:
      result = a - b;
      break;
    case Fn::Mul:
      result = a * b;
      break;
    case Fn::Negate:
      result = -a;
      break;
    case Fn::Div:
      if (b != 0) {
        result = a / b;
        whole = false;
      }
      break;
    case Fn::FloorDiv:
      if (b != 0)
        result = std::floor(a / b);
      break;
    case Fn::Pow:
      result = std::pow(a, b);
      whole &= b >= 0;
      break;
    case Fn::Max:
      result = std::max(a, b);
      break;
    case Fn::Min:
      result = std::min(a, b);
      break;
    case Fn::Sqrt:
      if (a >= 0) {
        result = std::sqrt(a);
        whole = false;
      }
      break;
    default:
      break;
    }
    if (result && args.size() <= 2)
      return number(*result, loc, whole);
  }
  Term *term = make(TermKind::Map, loc, args);
  term->fn = fn;
  return term;
}

IndexVar *Elaborator::newIndex(StringRef name, SMLoc loc) {
  model->indices.emplace_back();
  IndexVar *var = &model->indices.back();
  var->name = name.str();
  var->loc = loc;
  return var;
}

/// base[indices..]: a read gets more indices, anything else is selected from.
Term *Elaborator::index(Term *base, ArrayRef<Term *> indices, SMLoc loc) {
  unsigned first = 0;
  Term *term;
  if (base->kind == TermKind::Read && !base->fallback) {
    first = base->args.size();
    term = make(TermKind::Read, base->loc);
    term->array = base->array;
    term->args = base->args;
  } else {
    term = make(TermKind::Select, loc, {base});
  }
  unsigned offset = term->kind == TermKind::Select ? 1 : 0;
  (void)offset;
  for (auto [k, index] : llvm::enumerate(indices)) {
    term->args.push_back(index);
    IndexVar *var = nullptr;
    int64_t shift = 0;
    if (index->kind == TermKind::Index) {
      var = index->index;
    } else if (index->kind == TermKind::Map &&
               (index->fn == Fn::Add || index->fn == Fn::Sub)) {
      Term *a = index->args[0], *b = index->args[1];
      if (a->kind == TermKind::Number && index->fn == Fn::Add)
        std::swap(a, b);
      if (a->kind == TermKind::Index && b->kind == TermKind::Number &&
          b->isInteger) {
        var = a->index;
        shift = index->fn == Fn::Add ? int64_t(b->number) : -int64_t(b->number);
      }
    }
    if (var)
      model->uses.push_back(
          {var, shift, term, first + unsigned(k), index->loc});
  }
  computeFree(term);
  return term;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<Extent> Elaborator::lengthAt(Symbol &symbol, int64_t at,
                                           Scope &scope, SMLoc loc) {
  const ast::Statement *general = nullptr;
  for (const ast::Statement *s : symbol.lengths) {
    if (s->place.value->kind == ExprKind::Name &&
        !lookup(scope, s->place.value->name)) {
      general = s;
      continue;
    }
    if (staticValue(*s->place.value, scope, nullptr) == at)
      return size(*s->value, scope, nullptr);
  }
  if (!general || at < -64) {
    error(loc, "no equation gives the length at " + std::to_string(at));
    return std::nullopt;
  }
  bindingStorage.push_back(
      {nullptr, general->place.value->name, nullptr, at, true});
  const Bindings *bindings = &bindingStorage.back();
  if (++callDepth > 4096) {
    error(loc, "this length is defined by itself");
    --callDepth;
    return std::nullopt;
  }
  std::optional<Extent> result = size(*general->value, scope, bindings);
  --callDepth;
  return result;
}

std::optional<Extent> Elaborator::size(const Expr &expr, Scope &scope,
                                       const Bindings *bindings, bool report) {
  auto fail = [&](const std::string &text) -> std::optional<Extent> {
    if (report)
      error(expr.loc, text);
    return std::nullopt;
  };
  switch (expr.kind) {
  case ExprKind::Integer:
    return Extent(expr.integer);
  case ExprKind::Name: {
    for (const Bindings *b = bindings; b; b = b->outer)
      if (b->name == expr.name) {
        if (b->number)
          return Extent(*b->number);
        return fail("'" + expr.name.str() +
                    "' is an index, not a size that is known before anything "
                    "runs");
      }
    Symbol *symbol = lookup(scope, expr.name);
    if (!symbol) {
      if (report)
        undefined(expr.name, expr.loc, scope, bindings);
      return std::nullopt;
    }
    if (symbol->kind == Symbol::Size)
      return symbol->size;
    if (symbol->kind == Symbol::Label)
      return Extent(symbol->label);
    Term *value = symbol->value;
    if (value && value->kind == TermKind::Size)
      return value->extent;
    if (value && value->kind == TermKind::Number && value->isInteger)
      return Extent(int64_t(value->number));
    return fail("'" + expr.name.str() + "' is not a size");
  }
  case ExprKind::Unary:
    if (expr.op == ast::Op::Negate)
      if (auto inner = size(*expr.args[0], scope, bindings, report))
        return Extent(0) - *inner;
    return std::nullopt;
  case ExprKind::Member: {
    if (expr.name == "vocab" || expr.name == "classes" || expr.name == "size") {
      const Vocabulary *vocabulary =
          vocabularyOf(expr, scope, bindings, report);
      if (!vocabulary)
        return std::nullopt;
      return vocabulary->size;
    }
    Symbol *import = expr.args[0]->kind == ExprKind::Name
                         ? lookup(scope, expr.args[0]->name)
                         : nullptr;
    if (import && import->kind == Symbol::Import) {
      Symbol *symbol = lookup(*import->scope, expr.name);
      if (symbol && symbol->kind == Symbol::Size)
        return symbol->size;
    }
    return fail("this is not a size");
  }
  case ExprKind::Index: {
    // N[l] of a length, W[m] of nested data.
    const Expr &base = *expr.args[0];
    Symbol *symbol =
        base.kind == ExprKind::Name ? lookup(scope, base.name) : nullptr;
    if (symbol && symbol->kind == Symbol::LengthFamily &&
        expr.args.size() == 2) {
      std::optional<int64_t> at = staticValue(*expr.args[1], scope, bindings);
      if (!at)
        return fail("the index of a length is known before anything runs");
      return lengthAt(*symbol, *at, scope, expr.loc);
    }
    if (symbol && symbol->kind == Symbol::Size)
      return symbol->size;
    return fail("this is not a size");
  }
  case ExprKind::Binary: {
    auto a = size(*expr.args[0], scope, bindings, report);
    auto b = size(*expr.args[1], scope, bindings, report);
    if (!a || !b)
      return std::nullopt;
    switch (expr.op) {
    case ast::Op::Add:
      return *a + *b;
    case ast::Op::Sub:
      return *a - *b;
    case ast::Op::Mul:
      return *a * *b;
    case ast::Op::FloorDiv:
    case ast::Op::Div:
      if (b->value() == 0)
        return fail("this divides by zero");
      if (expr.op == ast::Op::Div && a->value() && b->value() &&
          *a->value() % *b->value() != 0)
        return fail(a->textWithValue() + " is not a multiple of " +
                    b->textWithValue() + "; write // to round down");
      return model->sizes.floorDiv(*a, *b);
    case ast::Op::Mod: {
      auto x = a->value(), y = b->value();
      if (x && y && *y > 0)
        return Extent(((*x % *y) + *y) % *y);
      return fail("this size is not known before anything runs");
    }
    case ast::Op::Pow: {
      auto y = b->value();
      if (y && *y >= 0 && *y <= 32) {
        Extent result(1);
        for (int64_t k = 0; k < *y; ++k)
          result = result * *a;
        return result;
      }
      return fail("a size is raised to whole powers up to 32 only");
    }
    default:
      return fail("this is not a size");
    }
  }
  default:
    return fail("this is not a size");
  }
}

std::optional<Symbol> Elaborator::sizeArgument(const Expr &expr, Scope &scope,
                                               const Bindings *bindings) {
  if (std::optional<Extent> extent =
          size(expr, scope, bindings, /*report=*/false))
    return Symbol{Symbol::Size, expr.loc, *extent};
  Term *value = expression(expr, scope, bindings);
  if (!value)
    return std::nullopt;
  if (value->kind != TermKind::Number) {
    error(expr.loc, "a size or a number is wanted here");
    return std::nullopt;
  }
  Symbol symbol{Symbol::Number, expr.loc};
  symbol.value = value;
  return symbol;
}

std::optional<int64_t> Elaborator::staticValue(const Expr &expr, Scope &scope,
                                               const Bindings *bindings) {
  std::optional<Extent> extent = size(expr, scope, bindings, false);
  return extent ? extent->value() : std::nullopt;
}

const Vocabulary *Elaborator::vocabularyOf(const Expr &path, Scope &scope,
                                           const Bindings *bindings,
                                           bool report) {
  const Expr *base = &path;
  while (base->kind == ExprKind::Member &&
         (base->name == "vocab" || base->name == "size" ||
          base->name == "classes"))
    base = base->args[0];
  Scope *where = &scope;
  StringRef name = base->name;
  if (base->kind == ExprKind::Member && base->args[0]->kind == ExprKind::Name) {
    Symbol *import = lookup(scope, base->args[0]->name);
    if (!import || import->kind != Symbol::Import) {
      if (report)
        undefined(base->args[0]->name, base->args[0]->loc, scope, bindings);
      return nullptr;
    }
    where = import->scope;
  } else if (base->kind != ExprKind::Name) {
    if (report)
      error(base->loc, "expected the name of data or of a vocab");
    return nullptr;
  }
  Symbol *symbol = lookup(*where, name);
  if (!symbol) {
    if (report)
      undefined(name, base->loc, *where, bindings);
    return nullptr;
  }
  if (symbol->vocabulary)
    return symbol->vocabulary;
  if (symbol->family && !symbol->family->isEquation &&
      symbol->family->members.size() == 1)
    if (Array *array = symbol->family->members.begin()->second.array;
        array && array->vocabulary)
      return array->vocabulary;
  if (report)
    error(base->loc, "'" + name.str() + "' has no vocabulary",
          {{symbol->loc, "it is declared here"}});
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Names and indices
//===----------------------------------------------------------------------===//

/// Splits the indices of a family into the member and what remains.
bool Elaborator::resolveMember(Family &family, ArrayRef<const Expr *> given,
                               Scope &scope, const Bindings *bindings,
                               SMLoc loc, Member &member,
                               SmallVector<const Expr *, 2> &rest) {
  StaticIndices at;
  for (auto [k, isStatic] : llvm::enumerate(family.isStatic)) {
    if (k >= given.size()) {
      if (!isStatic)
        continue;
      error(loc,
            "'" + family.name + "' is a family of " +
                std::to_string(family.members.size()) +
                " members; select one with an index",
            {{family.loc, "it is declared here"}});
      return false;
    }
    if (!isStatic) {
      rest.push_back(given[k]);
      continue;
    }
    std::optional<int64_t> value = staticValue(*given[k], scope, bindings);
    if (!value) {
      error(given[k]->loc,
            "index of '" + family.name +
                "' selects a member, so it is a number known "
                "before anything runs",
            {{family.loc, "'" + family.name + "' is declared here"}});
      return false;
    }
    at.push_back(*value);
  }
  for (const Expr *expr :
       given.drop_front(std::min<size_t>(given.size(), family.isStatic.size())))
    rest.push_back(expr);
  if (family.isEquation) {
    member.array = memberArray(family, at, scope);
    if (!member.array->firstRead.isValid())
      member.array->firstRead = loc;
    return true;
  }
  auto it = family.members.find(at);
  if (it == family.members.end()) {
    std::string shown;
    for (int64_t k : at)
      shown += (shown.empty() ? "" : ",") + std::to_string(k);
    std::string extents;
    for (auto extent : family.extents)
      extents +=
          (extents.empty() ? "" : ",") + std::to_string(extent.value_or(0));
    error(loc,
          "'" + family.name + "[" + shown +
              "]' is outside the family, "
              "which has " +
              extents + " members",
          {{family.loc, "it is declared here"}});
    return false;
  }
  member = it->second;
  return true;
}

bool Elaborator::resolvePath(const Expr &expr, Scope &scope,
                             const Bindings *bindings, Path &path) {
  switch (expr.kind) {
  case ExprKind::Name:
    path.scope = &scope;
    path.symbol = lookup(scope, expr.name);
    if (!path.symbol) {
      undefined(expr.name, expr.loc, scope, bindings);
      return false;
    }
    return true;
  case ExprKind::Index:
    if (!resolvePath(*expr.args[0], scope, bindings, path))
      return false;
    path.indices.append(expr.args.begin() + 1, expr.args.end());
    return true;
  case ExprKind::Member: {
    if (!resolvePath(*expr.args[0], scope, bindings, path))
      return false;
    Scope *inside = nullptr;
    if (path.symbol->kind == Symbol::Import && path.indices.empty()) {
      inside = path.symbol->scope;
    } else if (path.symbol->kind == Symbol::Equations) {
      Member member;
      SmallVector<const Expr *, 2> rest;
      if (!resolveMember(*path.symbol->family, path.indices, scope, bindings,
                         expr.loc, member, rest))
        return false;
      if (member.instance && rest.empty())
        inside = member.instance->parameters;
    }
    if (!inside) {
      error(expr.loc, "'" + expr.name.str() +
                          "' is asked of something that "
                          "has no parts");
      return false;
    }
    auto it = inside->symbols.find(expr.name);
    if (it == inside->symbols.end()) {
      undefined(expr.name, expr.loc, *inside, nullptr);
      return false;
    }
    path.scope = inside;
    path.symbol = &it->second;
    path.indices.clear();
    return true;
  }
  default:
    error(expr.loc, "expected a name");
    return false;
  }
}

Term *Elaborator::nameTerm(const Expr &expr, Scope &scope,
                           const Bindings *bindings) {
  StringRef name = expr.name;
  for (const Bindings *b = bindings; b; b = b->outer)
    if (b->name == name) {
      if (b->number)
        return number(*b->number, expr.loc, true);
      Term *term = make(TermKind::Index, expr.loc);
      term->index = b->var;
      computeFree(term);
      return term;
    }
  if (name == "true" || name == "false") {
    Term *term = number(name == "true", expr.loc, true);
    term->kindOf = Kind::Bit;
    return term;
  }
  if (name == "inf")
    return number(INFINITY, expr.loc, false);
  Symbol *symbol = lookup(scope, name);
  if (!symbol) {
    undefined(name, expr.loc, scope, bindings);
    return nullptr;
  }
  switch (symbol->kind) {
  case Symbol::Size:
    return sizeTerm(symbol->size, expr.loc);
  case Symbol::Label:
    return number(symbol->label, expr.loc, true);
  case Symbol::Number:
  case Symbol::Value:
    return symbol->value;
  case Symbol::Let: {
    Terms values = letTerms(*symbol, scope);
    return values.empty() ? nullptr : values[0];
  }
  case Symbol::Equations: {
    Member member;
    SmallVector<const Expr *, 2> rest;
    if (!resolveMember(*symbol->family, {}, scope, bindings, expr.loc, member,
                       rest))
      return nullptr;
    if (member.instance) {
      error(expr.loc,
            "'" + name.str() + "' is a module; apply it: " + name.str() +
                "(...)",
            {{symbol->loc, "it is declared here"}});
      return nullptr;
    }
    Term *term = make(TermKind::Read, expr.loc);
    term->array = member.array;
    computeFree(term);
    return term;
  }
  default:
    error(expr.loc, "'" + name.str() + "' is not a value",
          {{symbol->loc, "it is declared here"}});
    return nullptr;
  }
}

Term *Elaborator::indexTerm(const Expr &expr, Scope &scope,
                            const Bindings *bindings) {
  const Expr &base = *expr.args[0];
  Term *value = nullptr;
  SmallVector<const Expr *, 2> rest(expr.args.begin() + 1, expr.args.end());
  bool isPath = base.kind == ExprKind::Name || base.kind == ExprKind::Member;
  bool isBound = false;
  if (base.kind == ExprKind::Name)
    for (const Bindings *b = bindings; b; b = b->outer)
      isBound |= b->name == base.name;
  if (isPath && !isBound) {
    Path path;
    if (!resolvePath(base, scope, bindings, path))
      return nullptr;
    Symbol &symbol = *path.symbol;
    if (symbol.kind == Symbol::LengthFamily || symbol.kind == Symbol::Size) {
      // A nested length as a number: W[m].
      if (symbol.kind == Symbol::Size && rest.size() == 1) {
        Term *parent = expression(*rest[0], scope, bindings);
        if (!parent)
          return nullptr;
        Term *term = sizeTerm(symbol.size, expr.loc);
        term->args.push_back(parent);
        computeFree(term);
        return term;
      }
      std::optional<Extent> extent = size(expr, scope, bindings);
      return extent ? sizeTerm(*extent, expr.loc) : nullptr;
    }
    if (symbol.kind == Symbol::Equations) {
      Member member;
      SmallVector<const Expr *, 2> unused;
      if (!resolveMember(*symbol.family, rest, scope, bindings, expr.loc,
                         member, unused))
        return nullptr;
      if (member.instance) {
        error(expr.loc,
              "'" + symbol.family->name + "' is a module; apply it to a value",
              {{symbol.loc, "it is declared here"}});
        return nullptr;
      }
      value = make(TermKind::Read, base.loc);
      value->array = member.array;
      value->range = expr.range;
      computeFree(value);
      rest = unused;
    }
  }
  if (!value)
    value = expression(base, scope, bindings);
  if (!value)
    return nullptr;
  if (rest.empty())
    return value;
  SmallVector<Term *, 2> indices;
  for (const Expr *arg : rest) {
    Term *term = expression(*arg, scope, bindings);
    if (!term)
      return nullptr;
    indices.push_back(term);
  }
  Term *result = index(value, indices, expr.loc);
  result->range = expr.range;
  result->loc = base.loc;
  return result;
}

Term *Elaborator::memberTerm(const Expr &expr, Scope &scope,
                             const Bindings *bindings) {
  if (expr.name == "vocab" || expr.name == "classes" || expr.name == "size") {
    std::optional<Extent> extent = size(expr, scope, bindings);
    return extent ? sizeTerm(*extent, expr.loc) : nullptr;
  }
  Path path;
  if (!resolvePath(expr, scope, bindings, path))
    return nullptr;
  Expr name = expr;
  name.kind = ExprKind::Name;
  return nameTerm(name, *path.scope, nullptr);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

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
      Term *component = make(TermKind::Index, binder.loc);
      component->index = bound->var;
      computeFree(component);
      components.push_back(component);
    }
    if (binder.extent) {
      var->extent = size(*binder.extent, scope, bindings);
      if (!var->extent) {
        // W[m]: a nested length with its parent's index.
        return nullptr;
      }
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

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Elaborator::Terms Elaborator::tuple(const Expr &expr, Scope &scope,
                                    const Bindings *bindings) {
  if (expr.kind == ExprKind::Call)
    return call(expr, scope, bindings);
  Term *term = expression(expr, scope, bindings);
  return term ? Terms{term} : Terms{};
}

static Fn fnOf(ast::Op op) {
  switch (op) {
  case ast::Op::Add:
    return Fn::Add;
  case ast::Op::Sub:
    return Fn::Sub;
  case ast::Op::Mul:
    return Fn::Mul;
  case ast::Op::Div:
    return Fn::Div;
  case ast::Op::FloorDiv:
    return Fn::FloorDiv;
  case ast::Op::Mod:
    return Fn::Mod;
  case ast::Op::Pow:
    return Fn::Pow;
  case ast::Op::And:
    return Fn::And;
  case ast::Op::Or:
    return Fn::Or;
  case ast::Op::Not:
    return Fn::Not;
  case ast::Op::Negate:
    return Fn::Negate;
  case ast::Op::Less:
    return Fn::Less;
  case ast::Op::LessEqual:
    return Fn::LessEqual;
  case ast::Op::Greater:
    return Fn::Greater;
  case ast::Op::GreaterEqual:
    return Fn::GreaterEqual;
  case ast::Op::Equal:
    return Fn::Equal;
  case ast::Op::NotEqual:
    return Fn::NotEqual;
  default:
    llvm_unreachable("joins and products are no maps");
  }
}

Term *Elaborator::expression(const Expr &expr, Scope &scope,
                             const Bindings *bindings) {
  auto sub = [&](unsigned k) {
    return expression(*expr.args[k], scope, bindings);
  };
  Term *result = nullptr;
  switch (expr.kind) {
  case ExprKind::Name:
    result = nameTerm(expr, scope, bindings);
    break;
  case ExprKind::Integer:
    result = number(double(expr.integer), expr.loc, true);
    break;
  case ExprKind::Real:
    result = number(expr.real, expr.loc, false);
    break;
  case ExprKind::String: {
    // The three symbols that every vocabulary has.
    static constexpr StringRef symbols[] = {"<s>", "</s>", "<unk>"};
    const auto *it = llvm::find(symbols, expr.name);
    if (it == std::end(symbols)) {
      error(expr.loc, "a symbol in an equation is \"<s>\", \"</s>\" or "
                      "\"<unk>\"; others depend on the vocabulary");
      return nullptr;
    }
    result = number(it - symbols, expr.loc, true);
    result->isSymbol = true;
    break;
  }
  case ExprKind::Train:
    model->refusals.push_back("'train." + expr.name.str() +
                              "' is a value of the training loop, which does "
                              "not exist yet");
    result = number(0, expr.loc, true);
    break;
  case ExprKind::List:
    error(expr.loc, "a list stands only in a shape");
    return nullptr;
  case ExprKind::Unary: {
    Term *arg = sub(0);
    if (!arg)
      return nullptr;
    result = map(fnOf(expr.op), {arg}, expr.loc);
    break;
  }
  case ExprKind::Binary: {
    Term *a = sub(0), *b = sub(1);
    if (!a || !b)
      return nullptr;
    if (expr.op == ast::Op::MatMul) {
      result = make(TermKind::Contract, expr.loc, {a, b});
    } else if (expr.op == ast::Op::Join) {
      // a ++ b ++ c is one join.
      Terms parts;
      if (a->kind == TermKind::Join && expr.args[0]->kind == ExprKind::Binary &&
          expr.args[0]->op == ast::Op::Join)
        parts = a->args;
      else
        parts.push_back(a);
      parts.push_back(b);
      result = make(TermKind::Join, expr.loc, parts);
    } else {
      result = map(fnOf(expr.op), {a, b}, expr.loc);
    }
    break;
  }
  case ExprKind::Compare: {
    for (unsigned k = 0; k < expr.ops.size(); ++k) {
      Term *a = sub(k), *b = sub(k + 1);
      if (!a || !b)
        return nullptr;
      Term *one = map(fnOf(expr.ops[k]), {a, b}, expr.loc);
      result = result ? map(Fn::And, {result, one}, expr.loc) : one;
    }
    break;
  }
  case ExprKind::If: {
    Term *condition = sub(0), *yes = sub(1), *no = sub(2);
    if (!condition || !yes || !no)
      return nullptr;
    result = make(TermKind::If, expr.loc, {condition, yes, no});
    break;
  }
  case ExprKind::Call: {
    Terms values = call(expr, scope, bindings);
    if (values.empty())
      return nullptr;
    if (values.size() > 1) {
      error(expr.loc, "this gives " + std::to_string(values.size()) +
                          " values but one is wanted here");
      return nullptr;
    }
    result = values[0];
    break;
  }
  case ExprKind::Index:
    result = indexTerm(expr, scope, bindings);
    break;
  case ExprKind::Member:
    result = memberTerm(expr, scope, bindings);
    break;
  case ExprKind::Default: {
    Term *read = sub(0), *fallback = sub(1);
    if (!read || !fallback)
      return nullptr;
    if (read->kind != TermKind::Read && read->kind != TermKind::Select) {
      error(expr.loc, "'?"
                      "?' stands behind an index: x[i+1] ?? 0");
      return nullptr;
    }
    result = make(read->kind, read->loc, read->args);
    result->array = read->array;
    result->fallback = fallback;
    computeFree(result);
    for (size_t k = 0, end = model->uses.size(); k < end; ++k)
      if (model->uses[k].read == read)
        model->uses[k].read = result;
    break;
  }
  case ExprKind::Reduce:
    result = reduceTerm(expr, scope, bindings);
    break;
  }
  if (result && !result->range.isValid())
    result->range = expr.range;
  return result;
}
