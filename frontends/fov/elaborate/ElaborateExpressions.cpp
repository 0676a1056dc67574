//===- ElaborateExpressions.cpp - right sides -----------------------------===//
//
// Converts names, indices, reductions and operators to terms. Leaves everything
// that needs a shape to Infer.cpp.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"
#include "runtime/Functions.h"
#include "llvm/Support/SaveAndRestore.h"

#include <cmath>

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// The maximum number of terms of a model after expanding defs and families,
/// and of parameters and arrays.
static constexpr size_t maxTerms = 200'000, maxArrays = 50'000;
/// The maximum nesting of expressions through calls.
static constexpr unsigned maxDepth = 1000;
/// A term of this height becomes an array, to limit the depth of walks over
/// terms.
static constexpr unsigned maxHeight = 200;

bool Elaborator::isTooMuch(SMLoc loc) {
  if (model->isStopped())
    return isFull = true;
  if (isFull ||
      (model->terms.size() < maxTerms && model->storage.size() < maxArrays))
    return isFull;
  error(Code::tooLarge, loc,
        "this model has too many operations or parameters once its defs "
        "and families are written out");
  return isFull = true;
}

bool Elaborator::isTooDeep(SMLoc loc) {
  if (isFull || depth <= maxDepth)
    return isFull;
  error(Code::tooLarge, loc,
        "this is nested too deep, or is defined by itself");
  // A definition that uses itself twice would recurse in every branch.
  return isFull = true;
}

Term *Elaborator::make(TermKind kind, SMLoc loc, ArrayRef<Term *> args) {
  Term *term = &model->terms.emplace_back();
  term->kind = kind;
  term->loc = loc;
  for (Term *arg : args)
    term->args.push_back(arg->height < maxHeight ? arg : nameless(arg));
  findFree(*term);
  return term;
}

/// The term as an unnamed array over the indices that it needs.
Term *Elaborator::nameless(Term *value) {
  Array *array = &model->storage.emplace_back();
  array->source = Array::Equation;
  array->text = "this value";
  array->loc = value->loc;
  array->context = value->free;
  array->pieces.push_back({{}, value, value->loc});
  model->arrays.push_back(array);
  Term *read = &model->terms.emplace_back();
  read->kind = TermKind::Read;
  read->loc = value->loc;
  read->range = value->range;
  read->array = array;
  findFree(*read);
  return read;
}

/// Whole numbers beyond 2^53 have no exact value here: they become real.
Term *Elaborator::number(double value, SMLoc loc, bool isInteger) {
  Term *term = make(TermKind::Number, loc);
  term->number = value;
  term->isInteger = isInteger && std::abs(value) <= 0x1p53;
  return term;
}

Term *Elaborator::sizeTerm(const Extent &extent, SMLoc loc) {
  Term *term = make(TermKind::Size, loc);
  term->extent = extent;
  return term;
}

std::optional<bool> fov::truth(const Term &condition) {
  if (condition.kind != TermKind::Number || condition.kindOf != Kind::Bit)
    return std::nullopt;
  return condition.number != 0;
}

/// The value of a number or size that is known before anything runs.
static std::optional<double> knownNumber(const Term &term) {
  if (term.kind == TermKind::Size && term.args.empty())
    return term.extent.value();
  if (term.kind != TermKind::Number || term.isSymbol || truth(term))
    return std::nullopt;
  return term.number;
}

/// The value of a comparison or a logical operation, if its operands determine
/// it before anything runs.
static std::optional<bool> knownTruth(Fn fn, ArrayRef<Term *> args) {
  if (fn == Fn::Not) {
    std::optional<bool> value = truth(*args[0]);
    return value ? std::optional(!*value) : std::nullopt;
  }
  if (fn == Fn::And || fn == Fn::Or) {
    std::optional<bool> a = truth(*args[0]), b = truth(*args[1]);
    bool decides = fn == Fn::Or;
    if (a == decides || b == decides)
      return decides;
    return a && b ? std::optional(!decides) : std::nullopt;
  }
  if (fn < Fn::Less || fn > Fn::NotEqual)
    return std::nullopt;
  std::optional<double> a = knownNumber(*args[0]), b = knownNumber(*args[1]);
  if (!a || !b)
    return std::nullopt;
  switch (fn) {
  case Fn::Less:
    return *a < *b;
  case Fn::LessEqual:
    return *a <= *b;
  case Fn::Greater:
    return *a > *b;
  case Fn::GreaterEqual:
    return *a >= *b;
  case Fn::Equal:
    return *a == *b;
  default:
    return *a != *b;
  }
}

Term *Elaborator::map(Fn fn, ArrayRef<Term *> args, SMLoc loc) {
  // Numbers fold: indices such as (3 - 1) // 2 must stay affine.
  if (std::optional<bool> known = knownTruth(fn, args)) {
    Term *term = number(*known, loc, true);
    term->kindOf = Kind::Bit;
    return term;
  }
  // `true and c` is c.
  if (fn == Fn::And || fn == Fn::Or)
    for (unsigned k : {0u, 1u})
      if (truth(*args[k]))
        return args[1 - k];
  if (args.size() <= 2 && llvm::all_of(args, [](Term *t) {
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
      result = runtime::powOf(a, b);
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
    if (result)
      return number(*result, loc, whole);
  }
  Term *term = make(TermKind::Map, loc, args);
  term->fn = fn;
  return term;
}

std::optional<std::pair<IndexVar *, int64_t>>
fovea::fov::affineIndex(const Term &term) {
  int64_t shift = 0;
  const Term *at = &term;
  while (at->kind == TermKind::Map &&
         (at->fn == Fn::Add || at->fn == Fn::Sub)) {
    const Term *a = at->args[0], *b = at->args[1];
    if (a->kind == TermKind::Number && at->fn == Fn::Add)
      std::swap(a, b);
    if (b->kind != TermKind::Number || !b->isInteger ||
        std::abs(b->number) > 1e9)
      return std::nullopt;
    shift += at->fn == Fn::Add ? int64_t(b->number) : -int64_t(b->number);
    at = a;
  }
  if (at->kind != TermKind::Index)
    return std::nullopt;
  return std::pair(at->index, shift);
}

/// The value of a bound index in the place of its name.
Term *Elaborator::boundIndex(IndexVar *var, SMLoc loc) {
  Term *term = make(TermKind::Index, loc);
  term->index = var;
  findFree(*term);
  return term;
}

IndexVar *Elaborator::newIndex(StringRef name, SMLoc loc) {
  model->indices.emplace_back();
  IndexVar *var = &model->indices.back();
  var->name = name.str();
  var->loc = loc;
  return var;
}

/// base[indices..]: a read gets more indices; other bases are selected from.
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
  for (auto [k, index] : llvm::enumerate(indices)) {
    term->args.push_back(index);
    if (auto affine = affineIndex(*index))
      model->uses.push_back({affine->first, affine->second, term,
                             first + unsigned(k), index->loc});
  }
  findFree(*term);
  return term;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Elaborator::Terms Elaborator::tuple(const Expr &expr, Scope &scope,
                                    const Bindings *bindings) {
  if (expr.kind == ExprKind::Call) {
    Terms values = call(expr, scope, bindings);
    for (Term *value : values)
      if (!value->range.isValid())
        value->range = expr.range;
    return values;
  }
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

/// `train.step`: data that the training gives.
Array *Elaborator::updateNumber() {
  if (!model->updateNumber) {
    Array *array = &model->storage.emplace_back();
    array->source = Array::Data;
    array->name = "state.update";
    array->text = "train.step";
    array->valueShape = Shape();
    array->kind = Kind::Int;
    model->updateNumber = array;
  }
  return model->updateNumber;
}

Term *Elaborator::expression(const Expr &expr, Scope &scope,
                             const Bindings *bindings) {
  llvm::SaveAndRestore level(depth, depth + 1);
  if (isTooMuch(expr.loc) || isTooDeep(expr.loc))
    return nullptr;
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
    // The three symbols of every vocabulary.
    static constexpr StringRef symbols[] = {"<s>", "</s>", "<unk>"};
    const auto *it = llvm::find(symbols, expr.name);
    if (it == std::end(symbols)) {
      error(Code::notAValue, expr.loc,
            "a symbol in an equation is \"<s>\", \"</s>\" or "
            "\"<unk>\"; others depend on the vocabulary");
      return nullptr;
    }
    result = number(it - symbols, expr.loc, true);
    result->isSymbol = true;
    break;
  }
  case ExprKind::Train: {
    if (expr.name != "step") {
      error(Code::undefinedName, expr.loc,
            "'train." + expr.name.str() +
                "' is not a value of the training; there is "
                "'train.step', the number of the update");
      return nullptr;
    }
    result = make(TermKind::Read, expr.loc);
    result->array = updateNumber();
    break;
  }
  case ExprKind::List:
    error(Code::listAsValue, expr.loc,
          "a list is not a value; help: write a ++ b to join two "
          "vectors, stack[k](x[k]) for the rows of a matrix");
    return nullptr;
  case ExprKind::Unary: {
    Term *arg = sub(0);
    if (!arg)
      return nullptr;
    result = map(fnOf(expr.op), {arg}, expr.loc);
    break;
  }
  case ExprKind::Binary: {
    const Expr &exponent = *expr.args[1];
    if (expr.op == ast::Op::Pow && exponent.kind == ExprKind::Name &&
        exponent.name == "T" && !lookup(scope, "T")) {
      error(Code::transposition, exponent.loc,
            "'T' is not defined" + transpositionHelp().str());
      return nullptr;
    }
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
    Term *condition = sub(0);
    // The sizes of a def choose between forms of it.
    std::optional<bool> known =
        condition && scope.isCall ? truth(*condition) : std::nullopt;
    if (known) {
      result = sub(*known ? 1 : 2);
      break;
    }
    Term *yes = sub(1), *no = sub(2);
    if (!condition || !yes || !no)
      return nullptr;
    result = make(TermKind::If, expr.loc, {condition, yes, no});
    // Both branches are checked, though one is never computed.
    if ((known = truth(*condition))) {
      result->range = expr.range;
      result = *known ? yes : no;
    }
    break;
  }
  case ExprKind::Call: {
    Terms values = call(expr, scope, bindings);
    if (values.empty())
      return nullptr;
    if (values.size() > 1) {
      error(Code::numberOfValues, expr.loc,
            "this gives " + std::to_string(values.size()) +
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
    size_t firstUse = model->uses.size();
    Term *read = sub(0), *fallback = sub(1);
    if (!read || !fallback)
      return nullptr;
    if (read->kind != TermKind::Read && read->kind != TermKind::Select) {
      error(Code::misplacedOtherwise, expr.loc,
            "'?"
            "?' follows an index: x[i+1] ?? 0");
      return nullptr;
    }
    result = make(read->kind, read->loc, read->args);
    result->array = read->array;
    result->fallback = fallback;
    findFree(*result);
    for (IndexUse &use : llvm::drop_begin(model->uses, firstUse))
      if (use.read == read)
        use.read = result;
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
