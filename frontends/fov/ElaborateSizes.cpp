//===- ElaborateSizes.cpp - what is known before anything runs -----------===//
//
// Sizes, static values, lengths and vocabularies of expressions.
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
