//===- ElaborateFunctions.cpp - functions that are no defs ----------------===//
//
// tanh, dot, fold, zeros, .. Functions that a user could write are in
// prelude.fov instead.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

/// The number of values that a function takes.
static std::pair<size_t, size_t> arity(StringRef name) {
  return llvm::StringSwitch<std::pair<size_t, size_t>>(name)
      .Cases({"zeros", "ones"}, {0, 64})
      .Cases({"max", "min"}, {1, 64})
      .Case("clamp", {3, 3})
      .Cases({"dot", "dropout", "grad"}, {2, 2})
      .Case("fold", {2, 3})
      .Case("cut", {2, 64})
      .Default({1, 1});
}

std::string fov::formOf(StringRef name) {
  StringRef arguments = llvm::StringSwitch<StringRef>(name)
                            .Cases({"zeros", "ones"}, "(n)")
                            .Cases({"max", "min", "dot"}, "(a, b)")
                            .Case("clamp", "(x, low, high)")
                            .Case("dropout", "(x, 0.1)")
                            .Case("grad", "(loss, x)")
                            .Case("fold", "(x, n)")
                            .Case("cut", "(x, n, m)")
                            .Default("(x)");
  return (name + arguments).str();
}

bool fov::takesValues(StringRef function, size_t count) {
  auto [least, most] = arity(function);
  return least <= count && count <= most;
}

bool Elaborator::readSizes(ArrayRef<ast::Item> items, Shape &sizes,
                           Scope &scope, const Bindings *bindings) {
  for (const ast::Item &item : items) {
    std::optional<Extent> extent = size(*item.value, scope, bindings);
    if (!extent)
      return false;
    if (extent->value().value_or(1) < 1) {
      error(Code::sizeTooSmall, item.value->loc,
            "a size is at least 1, not " + extent->textWithValue());
      return false;
    }
    sizes.push_back(*extent);
  }
  return true;
}

/// cut(v, s1, [a, b], scalar): one part after another.
Elaborator::Terms Elaborator::cutTerms(const Expr &expr, Term *whole,
                                       Scope &scope, const Bindings *bindings) {
  Terms parts;
  Extent offset(0);
  for (const ast::Item &item : expr.items.drop_front()) {
    const Expr &shape = *item.value;
    SmallVector<ast::Item, 2> axes;
    if (shape.kind == ExprKind::List)
      for (Expr *axis : shape.args)
        axes.push_back({"", axis->loc, axis});
    else if (!(shape.kind == ExprKind::Name && shape.name == "scalar"))
      axes.push_back(item);
    Term *part = make(TermKind::Slice, expr.loc, {whole});
    if (!readSizes(axes, part->sizes, scope, bindings))
      return {};
    part->offset = offset;
    Extent length(1);
    for (const Extent &axis : part->sizes)
      length = length * axis;
    offset = offset + length;
    parts.push_back(part);
  }
  // The parts must make up the whole.
  model->bindings.push_back({whole, {offset}, expr.loc, "cut", {}});
  return parts;
}

Elaborator::Terms Elaborator::builtin(const Expr &expr, StringRef name,
                                      Scope &scope, const Bindings *bindings) {
  SMLoc loc = expr.loc;
  size_t given = expr.items.size();
  auto [low, high] = arity(name);
  // softmax(x, 1), max(x, dim = 1): an index selects the axis instead.
  std::string help =
      "; help: write " + (reductionNamed(name)
                              ? name.str() + "(v) for a vector, " + name.str() +
                                    "[i](x[i]) over an index"
                              : formOf(name));
  if (given < low || given > high) {
    error(Code::numberOfArguments, loc,
          "'" + name.str() + "' takes " +
              (low == high
                   ? std::to_string(low)
                   : std::to_string(low) + " to " + std::to_string(high)) +
              (high == 1 ? " value" : " values") + " but gets " +
              std::to_string(given) + help);
    return {};
  }
  for (const ast::Item &item : expr.items)
    if (!item.name.empty()) {
      error(Code::unknownArgument, item.loc,
            "'" + name.str() + "' has no argument '" + item.name.str() + "'" +
                help);
      return {};
    }
  // Shapes: zeros(H), zeros(R, C).
  if (name == "zeros" || name == "ones") {
    Term *term = make(TermKind::Fill, loc);
    term->number = name == "ones";
    return readSizes(expr.items, term->sizes, scope, bindings) ? Terms{term}
                                                               : Terms{};
  }
  SmallVector<Term *, 4> args;
  bool withSizes = name == "fold" || name == "cut";
  for (const ast::Item &item : expr.items.take_front(withSizes ? 1 : given))
    args.push_back(expression(*item.value, scope, bindings));
  if (llvm::is_contained(args, nullptr))
    return {};
  if (std::optional<Fn> fn = unaryFunction(name))
    return {map(*fn, args, loc)};
  if (given > 1 && (name == "max" || name == "min")) {
    Term *result = args[0];
    for (Term *arg : ArrayRef(args).drop_front())
      result = map(name == "max" ? Fn::Max : Fn::Min, {result, arg}, loc);
    return {result};
  }
  if (name == "clamp")
    return {
        map(Fn::Min, {map(Fn::Max, {args[0], args[1]}, loc), args[2]}, loc)};
  if (name == "dot") {
    Term *term = make(TermKind::Contract, loc, args);
    term->isDot = true;
    return {term};
  }
  if (name == "onehot")
    return {make(TermKind::Onehot, loc, args)};
  if (name == "dropout") {
    // Each call of a def, and each member of a family, has its own random
    // numbers; decoding uses those of training.
    Term *term = make(TermKind::Dropout, loc, args);
    term->ordinal = nextOrdinal++;
    return {term};
  }
  if (name == "grad") {
    // An element of a value: that element of the gradient.
    Term *by = args[1];
    SmallVector<Term *, 2> element;
    if (by->kind == TermKind::Select) {
      element.append(by->args.begin() + 1, by->args.end());
      by = by->args[0];
    }
    Term *term = make(TermKind::Grad, loc, {args[0], by});
    term->range = expr.range;
    return {element.empty() ? term : index(term, element, loc)};
  }
  if (name == "fold") {
    Term *term = make(TermKind::Fold, loc, args);
    return readSizes(expr.items.drop_front(), term->sizes, scope, bindings)
               ? Terms{term}
               : Terms{};
  }
  if (name == "cut")
    return cutTerms(expr, args[0], scope, bindings);
  if (std::optional<Reduction> reduction = reductionNamed(name)) {
    Term *term = make(TermKind::OverAxis, loc, args);
    term->reduction = *reduction;
    return {term};
  }
  error(Code::notCallable, loc, "'" + name.str() + "' cannot be called here");
  return {};
}
