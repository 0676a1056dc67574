//===- ElaborateSizes.cpp - what is known before anything runs -----------===//
//
// Sizes, static values, lengths and vocabularies of expressions.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

/// N[at] of a `length`.
std::optional<Extent> Elaborator::lengthAt(Symbol &symbol, int64_t at,
                                           Scope &scope, SMLoc loc) {
  auto [it, inserted] = lengthValues.try_emplace({&symbol, at});
  if (!inserted) {
    if (it->second.isBusy)
      error(Code::definedByItself, symbol.loc,
            "the length at " + std::to_string(at) + " is defined by itself");
    return it->second.value;
  }
  LengthValue &result = it->second;
  llvm::SaveAndRestore busy(result.isBusy, true);
  const ast::Statement *general = nullptr;
  for (const ast::Statement *s : symbol.lengths) {
    const Expr &place = *s->place.value;
    if (place.kind == ExprKind::Name && !lookup(scope, place.name))
      general = s;
    else if (staticValue(place, scope, nullptr) == at)
      return result.value = size(*s->value, scope, nullptr);
  }
  // An index starts at 0, also the index of a length.
  if (!general || at < 0) {
    error(Code::missingEquation, loc,
          "no equation gives the length at " + std::to_string(at),
          {{symbol.loc, "the others are given here"}});
    return std::nullopt;
  }
  bindingStorage.push_back(
      {nullptr, general->place.value->name, nullptr, at, true});
  return result.value = size(*general->value, scope, &bindingStorage.back());
}

std::optional<Extent> Elaborator::size(const Expr &expr, Scope &scope,
                                       const Bindings *bindings, bool report) {
  llvm::SaveAndRestore level(depth, depth + 1);
  if (isTooDeep(expr.loc))
    return std::nullopt;
  std::optional<Extent> result = rawSize(expr, scope, bindings, report);
  bool isNumber = result && !result->differs() && !result->unresolved();
  if (!result || (!result->isTooLarge() && (!isNumber || result->value())))
    return result;
  if (report)
    error(Code::tooLarge, expr.loc, "this size is too large");
  return std::nullopt;
}

/// The meaning of a name as a size.
std::optional<Extent> Elaborator::namedSize(const Expr &expr, Scope &scope,
                                            const Bindings *bindings,
                                            bool report) {
  for (const Bindings *b = bindings; b; b = b->outer) {
    if (b->name != expr.name)
      continue;
    if (b->number)
      return Extent(*b->number);
    if (report)
      error(Code::notConstant, expr.loc,
            "'" + expr.name.str() +
                "' is an index, not a size that is known before "
                "anything runs");
    return std::nullopt;
  }
  Symbol *symbol = lookup(scope, expr.name);
  if (!symbol) {
    if (report)
      undefined(expr.name, expr.loc, scope, bindings);
    return std::nullopt;
  }
  if (symbol->kind == Symbol::Mistake)
    return std::nullopt;
  if (symbol->kind == Symbol::Size)
    return symbol->size;
  if (symbol->kind == Symbol::Label)
    return Extent(symbol->label);
  Term *value = symbol->value;
  if (value && value->kind == TermKind::Size && value->args.empty())
    return value->extent;
  if (value && value->kind == TermKind::Number && value->isInteger)
    return Extent(int64_t(value->number));
  if (report)
    error(Code::notASize, expr.loc, "'" + expr.name.str() + "' is not a size",
          {{symbol->loc, "it is declared here"}});
  return std::nullopt;
}

/// N[l] of a length, W[m] of nested data.
std::optional<Extent> Elaborator::indexedSize(const Expr &expr, Scope &scope,
                                              const Bindings *bindings,
                                              bool report) {
  const Expr &base = *expr.args[0];
  Symbol *symbol =
      base.kind == ExprKind::Name ? lookup(scope, base.name) : nullptr;
  if (symbol && symbol->kind == Symbol::Mistake)
    return std::nullopt;
  if (symbol && symbol->kind == Symbol::LengthFamily && expr.args.size() == 2) {
    if (std::optional<int64_t> at = staticValue(*expr.args[1], scope, bindings))
      return lengthAt(*symbol, *at, scope, expr.loc);
    if (report)
      error(Code::notConstant, expr.loc,
            "the index of a length is known before anything runs");
    return std::nullopt;
  }
  const Atom *length =
      symbol && symbol->kind == Symbol::Size ? symbol->size.length() : nullptr;
  if (length && !length->parent.empty() && expr.args.size() == 2)
    return symbol->size;
  if (report)
    error(Code::notASize, expr.loc, "this is not a size");
  return std::nullopt;
}

/// `word.vocab` among the parameters of a def with the argument `word`: it
/// comes with the first call. Null for anything else.
const Atom *Elaborator::vocabularyOfArgument(const Expr &expr, Scope &scope) {
  bool ofArgument = expr.name == "vocab" &&
                    expr.args[0]->kind == ExprKind::Name && scope.instance &&
                    scope.instance->parameters == &scope &&
                    llvm::any_of(scope.instance->def->parameters,
                                 [&](const ast::Parameter &parameter) {
                                   return parameter.name == expr.args[0]->name;
                                 });
  if (!ofArgument)
    return nullptr;
  const Atom *&open =
      scope.instance->firstUse[(expr.args[0]->name + ".vocab").str()];
  if (!open)
    open = model->sizes.open("vocab");
  return open;
}

std::optional<Extent> Elaborator::rawSize(const Expr &expr, Scope &scope,
                                          const Bindings *bindings,
                                          bool report) {
  auto fail = [&](Code code, const std::string &text) -> std::optional<Extent> {
    if (report)
      error(code, expr.loc, text);
    return std::nullopt;
  };
  switch (expr.kind) {
  case ExprKind::Integer:
    return Extent(expr.integer);
  case ExprKind::Name:
    return namedSize(expr, scope, bindings, report);
  case ExprKind::Index:
    return indexedSize(expr, scope, bindings, report);
  case ExprKind::Unary: {
    if (expr.op != ast::Op::Negate)
      return fail(Code::notASize, "this is not a size");
    auto inner = size(*expr.args[0], scope, bindings, report);
    return inner ? std::optional(Extent(0) - *inner) : std::nullopt;
  }
  case ExprKind::Member: {
    if (const Atom *open = vocabularyOfArgument(expr, scope))
      return Extent(open);
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
    if (import && import->kind == Symbol::Mistake)
      return std::nullopt;
    if (import && import->kind == Symbol::Import) {
      Expr name = expr;
      name.kind = ExprKind::Name;
      name.args = {};
      return namedSize(name, *import->scope, nullptr, report);
    }
    return fail(Code::notASize, "this is not a size");
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
        return fail(Code::sizeArithmetic, "this divides by zero");
      if (expr.op == ast::Op::Div && a->value() && b->value() &&
          *a->value() % *b->value() != 0)
        return fail(Code::sizeArithmetic,
                    a->textWithValue() + " is not a multiple of " +
                        b->textWithValue() + "; help: write // to round down");
      return model->sizes.floorDiv(*a, *b);
    case ast::Op::Mod: {
      auto x = a->value(), y = b->value();
      if (y == 0)
        return fail(Code::sizeArithmetic, "this divides by zero");
      if (x && y && *y > 0)
        return Extent(((*x % *y) + *y) % *y);
      return fail(Code::notConstant,
                  "this size is not known before anything runs");
    }
    case ast::Op::Pow: {
      auto y = b->value();
      if (!y || *y < 0 || *y > 32)
        return fail(Code::sizeArithmetic,
                    "a size is raised to whole powers up to 32 only");
      Extent result(1);
      for (int64_t k = 0; k < *y; ++k)
        result = result * *a;
      return result;
    }
    default:
      return fail(Code::notASize, "this is not a size");
    }
  }
  default:
    return fail(Code::notASize, "this is not a size");
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
    error(Code::notASize, expr.loc, "a size or a number is wanted here");
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
    if (import && import->kind == Symbol::Mistake)
      return nullptr;
    if (!import || import->kind != Symbol::Import) {
      if (report && import)
        error(Code::noVocabulary, base->args[0]->loc,
              "'" + base->args[0]->name.str() +
                  "' is not a model that is used under its own name",
              {{import->loc, "it is declared here"}});
      else if (report)
        undefined(base->args[0]->name, base->args[0]->loc, scope, bindings);
      return nullptr;
    }
    where = import->scope;
  } else if (base->kind != ExprKind::Name) {
    if (report)
      error(Code::noVocabulary, base->loc,
            "expected the name of data or of a vocab");
    return nullptr;
  }
  Symbol *symbol = lookup(*where, name);
  if (!symbol) {
    if (report)
      undefined(name, base->loc, *where, bindings);
    return nullptr;
  }
  if (symbol->kind == Symbol::Mistake)
    return nullptr;
  if (symbol->vocabulary)
    return symbol->vocabulary;
  if (symbol->family && symbol->family->isData)
    if (Array *array = symbol->family->members.begin()->second.array;
        array->vocabulary)
      return array->vocabulary;
  if (report)
    error(Code::noVocabulary, base->loc,
          "'" + name.str() + "' has no vocabulary",
          {{symbol->loc, "it is declared here"}});
  return nullptr;
}
