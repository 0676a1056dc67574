//===- LowerConditions.cpp - under which conditions a compute holds -------===//
//
// A term inherits the conditions on indices of its own, and of those on values
// the ones without which it would read outside (Bounds.cpp).
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/lower/Lower.h"

using namespace fovea;
using namespace fovea::fov;
using namespace mlir;

/// Contains only indices, sizes and numbers: inlined into its reader.
bool Lowering::isIndexOnly(Term *term) {
  auto it = indexOnly.find(term);
  if (it != indexOnly.end())
    return it->second;
  bool result = false;
  switch (term->kind) {
  case TermKind::Number:
  case TermKind::Index:
  case TermKind::Size:
    result = true;
    break;
  case TermKind::Map:
    result =
        llvm::all_of(term->args, [&](Term *arg) { return isIndexOnly(arg); });
    break;
  case TermKind::If:
    result =
        llvm::all_of(term->args, [&](Term *arg) { return isIndexOnly(arg); }) &&
        term->shape->empty();
    break;
  default:
    break;
  }
  indexOnly[term] = result;
  return result;
}

/// The conjuncts of a condition that a term inside may inherit.
void Lowering::require(Term *condition, bool holds, Path &path) {
  if (holds && condition->kind == TermKind::Map && condition->fn == Fn::And) {
    require(condition->args[0], true, path);
    require(condition->args[1], true, path);
    return;
  }
  bool isKnown = isIndexOnly(condition) && !condition->free.empty();
  if (!isKnown && !guards.contains({condition, holds}))
    return;
  Term *given = conditionOf(condition, holds);
  if (!llvm::is_contained(path, given))
    path.push_back(given);
}

/// A condition, or its negation.
Term *Lowering::conditionOf(Term *condition, bool holds) {
  if (holds)
    return condition;
  Term *&negated = negations[condition];
  if (negated)
    return negated;
  model.terms.emplace_back();
  negated = &model.terms.back();
  negated->kind = TermKind::Map;
  negated->fn = Fn::Not;
  negated->loc = condition->loc;
  negated->args = {condition};
  negated->free = condition->free;
  negated->shape = Shape();
  negated->kindOf = Kind::Bit;
  return negated;
}

/// Returns whether `term` has a part that may read outside where `condition`
/// does not hold.
bool Lowering::needs(Term *term, Term *condition) {
  if (model.guards.empty())
    return false;
  auto [known, isNew] = needed.try_emplace({term, condition});
  if (!isNew)
    return known->second;
  bool result = false;
  if (auto it = model.guards.find(term); it != model.guards.end())
    result = llvm::any_of(it->second, [&](auto &guard) {
      return conditionOf(guard.first, guard.second) == condition;
    });
  SmallVector<Term *, 2> parts = term->args;
  parts.append({term->condition, term->fallback});
  for (Term *part : parts)
    result |= part && needs(part, condition);
  return needed[{term, condition}] = result;
}

/// Returns whether the right operand of an `and` or an `or` may read outside
/// where the left one decides.
bool Lowering::guardsRight(Term *term) {
  Path left;
  require(term->args[0], term->fn == Fn::And, left);
  return llvm::any_of(
      left, [&](Term *condition) { return needs(term->args[1], condition); });
}

/// An `and` or an `or` whose right operand is evaluated only where the left one
/// does not decide.
Value Lowering::guardedScalar(Body &body, Term *term, Position position) {
  bool isAnd = term->fn == Fn::And;
  Location loc = location(term->loc);
  Term *left = term->args[0], *right = term->args[1];
  auto valueOf = [&](Body &in, Term *arg) {
    Position at = arg->shape->empty() ? Position() : position;
    return convert(in, inlineScalar(in, arg, at), Kind::Bit);
  };
  auto op =
      scf::IfOp::create(body.builder, loc, TypeRange(body.builder.getI1Type()),
                        valueOf(body, left), /*withElseRegion=*/true);
  Body inner(isAnd ? op.getThenBodyBuilder() : op.getElseBodyBuilder(),
             body.path);
  inner.indices = body.indices;
  require(left, isAnd, inner.path);
  Value value = valueOf(inner, right);
  scf::YieldOp::create(inner.builder, loc, value);
  OpBuilder other = isAnd ? op.getElseBodyBuilder() : op.getThenBodyBuilder();
  Value decided =
      arith::ConstantOp::create(other, loc, other.getBoolAttr(!isAnd));
  scf::YieldOp::create(other, loc, decided);
  return op.getResult(0);
}

/// The conditions of the path that involve only the term's own indices, and the
/// conditions that the term needs.
Lowering::Path Lowering::relevant(Term *term, const Path &path) {
  Path result;
  for (Term *condition : path) {
    bool isOwn = isIndexOnly(condition) && !condition->free.empty() &&
                 llvm::all_of(condition->free, [&](IndexVar *var) {
                   return llvm::is_contained(term->free, var);
                 });
    if (isOwn || needs(term, condition))
      result.push_back(condition);
  }
  return result;
}

void Lowering::addCondition(attn::ComputeOp op, ArrayRef<IndexVar *> indices,
                            unsigned numValues, ArrayRef<IndexVar *> reduction,
                            ArrayRef<Term *> conditions) {
  Body body = bodyOf(op, op.getCondition(), indices, numValues, reduction, {});
  emitConditions(body, op, conditions);
}

/// Returns whether each place is below its size. Of sizes that do not follow
/// from values, all are.
Value Lowering::isInside(Body &body, SMLoc loc,
                         ArrayRef<std::pair<Value, Extent>> places) {
  OpBuilder &b = body.builder;
  Value all;
  for (auto &[place, size] : places) {
    if (!size.lengthByValues())
      continue;
    Value one =
        arith::CmpIOp::create(b, location(loc), arith::CmpIPredicate::slt,
                              place, extentValue(body, size, nullptr, loc));
    all = all ? Value(arith::AndIOp::create(b, location(loc), all, one)) : one;
  }
  return all;
}

/// All of `conditions` as the condition of a compute. One that reads inside
/// only under earlier ones is evaluated under them.
void Lowering::emitConditions(Body &body, attn::ComputeOp op,
                              ArrayRef<Term *> conditions) {
  // Beyond a length that follows from values, there is nothing to read.
  Value all = rangeConditions.lookup(op);
  bool hasRange = all != nullptr;
  Location loc = op.getLoc();
  for (auto [number, condition] : llvm::enumerate(conditions)) {
    OpBuilder &b = body.builder;
    ArrayRef<Term *> earlier = conditions.take_front(number);
    bool isGuarded =
        (hasRange && !isIndexOnly(condition)) ||
        llvm::any_of(earlier, [&, condition = condition](Term *other) {
          return needs(condition, other);
        });
    if (!isGuarded) {
      Value one = convert(body, inlineScalar(body, condition, {}), Kind::Bit);
      all = all ? Value(arith::AndIOp::create(b, loc, all, one)) : one;
      continue;
    }
    auto later = scf::IfOp::create(b, loc, TypeRange(b.getI1Type()), all,
                                   /*withElseRegion=*/true);
    Body inner(later.getThenBodyBuilder(), Path(earlier));
    inner.indices = body.indices;
    Value one = convert(inner, inlineScalar(inner, condition, {}), Kind::Bit);
    scf::YieldOp::create(inner.builder, loc, one);
    OpBuilder otherwise = later.getElseBodyBuilder();
    Value no =
        arith::ConstantOp::create(otherwise, loc, otherwise.getBoolAttr(false));
    scf::YieldOp::create(otherwise, loc, no);
    all = later.getResult(0);
  }
  attn::YieldOp::create(body.builder, loc, all);
}
