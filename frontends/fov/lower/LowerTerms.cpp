//===- LowerTerms.cpp - a compute for each operation ----------------------===//
//
// A term becomes one compute over its free indices and its value axes. It
// inherits the part of an enclosing condition (a `where`, a branch of `if`)
// that involves these indices. So nothing is evaluated where it is undefined,
// and a half-line stays a half-line in decoding. A condition on values is
// inherited only by what reads outside without it (Bounds.cpp).
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/Infer.h"
#include "frontends/fov/lower/Lower.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>
#include <set>

using namespace fovea;
using namespace fovea::fov;
using namespace mlir;

static attn::Reducer reducerOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
    return attn::Reducer::sum;
  case Reduction::Prod:
    return attn::Reducer::prod;
  case Reduction::Mean:
    return attn::Reducer::mean;
  case Reduction::Max:
    return attn::Reducer::max;
  case Reduction::Min:
    return attn::Reducer::min;
  case Reduction::Argmax:
    return attn::Reducer::argmax;
  case Reduction::Argmin:
    return attn::Reducer::argmin;
  case Reduction::Any:
    return attn::Reducer::any;
  case Reduction::All:
    return attn::Reducer::all;
  case Reduction::Logsumexp:
    return attn::Reducer::logsumexp;
  case Reduction::Softmax:
    return attn::Reducer::softmax;
  case Reduction::LogSoftmax:
    return attn::Reducer::log_softmax;
  case Reduction::Cumsum:
    return attn::Reducer::cumsum;
  }
  llvm_unreachable("every reduction is listed");
}

/// The free indices of a term, parents of nested extents before their children.
SmallVector<IndexVar *, 2> Lowering::indicesOf(Term *term, const Path &path) {
  SmallVector<IndexVar *, 2> result;
  std::function<void(IndexVar *)> add = [&](IndexVar *var) {
    if (llvm::is_contained(result, var))
      return;
    if (var->parentIndex)
      for (IndexVar *parent : var->parentIndex->free)
        add(parent);
    result.push_back(var);
  };
  for (IndexVar *var : term->free)
    add(var);
  for (Term *condition : path)
    for (IndexVar *var : condition->free)
      add(var);
  // The indices of its parent that a reduction inside needs.
  for (IndexVar *var : term->vars)
    if (var->parentIndex)
      for (IndexVar *parent : var->parentIndex->free)
        if (!llvm::is_contained(term->vars, parent))
          add(parent);
  return result;
}

attn::ComputeOp Lowering::newCompute(SMLoc loc, llvm::StringRef label,
                                     ArrayRef<IndexVar *> indices,
                                     ArrayRef<Extent> values,
                                     ArrayRef<IndexVar *> reduction,
                                     attn::Reducer reducer, Kind kind,
                                     bool withCondition) {
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  std::set<std::string> used;
  auto addName = [&](std::string name) {
    while (!used.insert(name).second)
      name += "_";
    names.push_back(builder.getStringAttr(name));
  };
  // The indices below lengths that follow from values.
  SmallVector<std::pair<unsigned, Extent>> ranges;
  auto addIndex = [&](const std::string &name, const Extent &size,
                      int64_t first) {
    addName(name);
    if (size.lengthByValues())
      ranges.push_back({unsigned(extents.size()), size});
    extents.push_back(extent(size));
    lower.push_back(first);
  };
  for (IndexVar *var : indices)
    addIndex(var->name, *var->extent, var->lower);
  for (auto [k, size] : llvm::enumerate(values))
    addIndex("d" + std::to_string(k), size, 0);
  unsigned numParallel = extents.size();
  for (IndexVar *var : reduction)
    addIndex(var->name, *var->extent, var->lower);
  auto op = attn::ComputeOp::create(
      builder, location(loc), label, names, extents, lower, numParallel,
      reducer, elementType(kind), withCondition || !ranges.empty());
  if (!ranges.empty()) {
    Body body(OpBuilder::atBlockEnd(&op.getCondition().front()), {});
    SmallVector<std::pair<Value, Extent>> places;
    for (auto &[position, size] : ranges)
      places.push_back({op.getCondition().getArgument(position), size});
    Value inside = isInside(body, loc, places);
    if (withCondition)
      rangeConditions[op] = inside;
    else
      attn::YieldOp::create(body.builder, op.getLoc(), inside);
  }
  // The inputs of its body are emitted before it.
  builder.setInsertionPoint(op);
  return op;
}

Lowering::Body Lowering::bodyOf(attn::ComputeOp op, Region &region,
                                ArrayRef<IndexVar *> indices,
                                unsigned numValues,
                                ArrayRef<IndexVar *> reduction,
                                const Path &path) {
  Body body(OpBuilder::atBlockEnd(&region.front()), path);
  unsigned position = 0;
  for (IndexVar *var : indices)
    body.indices[var] = region.getArgument(position++);
  position += numValues;
  for (IndexVar *var : reduction)
    body.indices[var] = region.getArgument(position++);
  return body;
}

/// The array itself, if the term reads all of it unchanged.
Value Lowering::wholeArray(Term *term, ArrayRef<IndexVar *> order, Kind kind) {
  if (term->kind != TermKind::Read || term->fallback || *term->kindOf != kind ||
      !term->array->context.empty() || term->array->source != Array::Equation ||
      term->args.size() != order.size())
    return {};
  for (auto [k, pair] : llvm::enumerate(llvm::zip(term->args, order))) {
    auto [arg, var] = pair;
    if (arg->kind != TermKind::Index || arg->index != var || var->lower != 0 ||
        term->array->shift(k) != 0 || !(*term->array->axis(k) == *var->extent))
      return {};
  }
  return valueOf(term->array);
}

/// The term over `order` (and its value axes), whatever it depends on.
Value Lowering::materialiseOver(Term *term, ArrayRef<IndexVar *> order,
                                Kind kind, llvm::StringRef label, SMLoc loc,
                                const Path &path, const Shape *broadcast) {
  if (label.empty() && path.empty() && !broadcast)
    if (Value whole = wholeArray(term, order, kind))
      return whole;
  bool isNode = false;
  // A number at every position of another shape.
  const Shape &shape =
      broadcast && term->shape->empty() ? *broadcast : *term->shape;
  switch (term->kind) {
  case TermKind::Map:
  case TermKind::If:
  case TermKind::Reduce:
  case TermKind::Contract:
  case TermKind::OverAxis:
  case TermKind::Join:
  case TermKind::Fold:
  case TermKind::Flatten:
  case TermKind::Dropout:
  case TermKind::GradOver:
    isNode = !isIndexOnly(term);
    break;
  default:
    break;
  }
  SmallVector<IndexVar *, 2> own = indicesOf(term, relevant(term, path));
  bool same =
      own.size() == order.size() && llvm::all_of(order, [&](IndexVar *var) {
        return llvm::is_contained(own, var);
      });
  OpBuilder::InsertionGuard guard(builder);
  if (isNode && same && *term->kindOf == kind &&
      shape.size() == term->shape->size())
    return materialise(term, path, order, label).array;
  attn::ComputeOp op = newCompute(loc, label, order, shape, {},
                                  attn::Reducer::none, kind, !path.empty());
  unsigned numValues = shape.size();
  Body body = bodyOf(op, op.getBody(), order, numValues, {}, path);
  SmallVector<Value> position;
  for (unsigned k = 0; k < term->shape->size(); ++k)
    position.push_back(op.getIndex(order.size() + k));
  attn::YieldOp::create(body.builder, op.getLoc(),
                        scalar(body, term, position, kind));
  if (!path.empty())
    addCondition(op, order, numValues, {}, path);
  return op.getResult();
}

/// An element is dropped by the random word of its place: see attn.random.
Value Lowering::emitDropout(const Term &term, ArrayRef<IndexVar *> indices,
                            Value operand, llvm::StringRef label) {
  assert(term.args[1]->kind == TermKind::Number && "the rate was checked");
  double rate = term.args[1]->number;
  attn::ComputeOp op =
      newCompute(term.loc, label, indices, *term.shape, {}, attn::Reducer::none,
                 Kind::Real, /*withCondition=*/false);
  Location loc = op.getLoc();
  OpBuilder body = OpBuilder::atBlockBegin(&op.getBody().front());
  ValueRange place = op.getBody().getArguments();
  auto real = [&](double value) -> Value {
    return arith::ConstantOp::create(body, loc, body.getF64FloatAttr(value));
  };
  Value number =
      attn::RandomOp::placeOf(body, loc, place, op.getExtents().getValue());
  Value word = attn::RandomOp::create(body, loc, body.getI64Type(), number,
                                      Value(), term.ordinal, /*word=*/0);
  auto isBelow = [&](int64_t limit) -> Value {
    return arith::CmpIOp::create(
        body, loc, arith::CmpIPredicate::slt, word,
        arith::ConstantIntOp::create(body, loc, limit, 64));
  };
  Value factor =
      arith::SelectOp::create(body, loc, isBelow(attn::RandomOp::noWord),
                              real(1 / (1 - rate)), real(1));
  // word / 2^32 < rate
  auto limit = static_cast<int64_t>(std::ceil(rate * attn::RandomOp::noWord));
  factor = arith::SelectOp::create(body, loc, isBelow(limit), real(0), factor);
  Value element = attn::ReadOp::create(body, loc, operand, place);
  attn::YieldOp::create(
      body, loc, arith::MulFOp::create(body, loc, element, factor).getResult());
  return op.getResult();
}

Lowering::Node Lowering::materialise(Term *term, const Path &outer,
                                     ArrayRef<IndexVar *> order,
                                     llvm::StringRef label) {
  Path path = relevant(term, outer);
  std::pair key(term, path);
  auto it = nodes.find(key);
  if (it != nodes.end() && order.empty())
    return it->second;
  SmallVector<IndexVar *, 2> indices = llvm::to_vector<2>(order);
  if (order.empty())
    indices = indicesOf(term, path);
  Node node;
  OpBuilder::InsertionGuard guard(builder);
  switch (term->kind) {
  case TermKind::Reduce:
    if (isNormaliser(term->reduction) && !term->args[0]->shape->empty()) {
      node = placesFirst(term, emitReduce(term, path, indices, ""), label);
      break;
    }
    [[fallthrough]];
  case TermKind::OverAxis:
    node = emitReduce(term, path, indices, label);
    break;
  case TermKind::Contract:
    node = emitContract(term, path, indices, label);
    break;
  case TermKind::Join:
    node = emitJoin(term, path, indices, label);
    break;
  case TermKind::Fold:
  case TermKind::Flatten:
    node = emitReshape(term, path, indices, label);
    break;
  case TermKind::Dropout: {
    Value operand = materialiseOver(term->args[0], indices, Kind::Real, "",
                                    term->loc, path);
    node = {emitDropout(*term, indices, operand, label), indices};
    break;
  }
  case TermKind::GradOver: {
    Array &element = *term->args[1]->array;
    Value root = materialiseOver(term->args[0], element.context, Kind::Real, "",
                                 term->loc, path);
    node = {gradientOf(root, valueOf(&element)), indices};
    break;
  }
  default: {
    unsigned numValues = term->shape->size();
    attn::ComputeOp op =
        newCompute(term->loc, label, indices, *term->shape, {},
                   attn::Reducer::none, *term->kindOf, !path.empty());
    Body body = bodyOf(op, op.getBody(), indices, numValues, {}, path);
    SmallVector<Value> position;
    for (unsigned k = 0; k < numValues; ++k)
      position.push_back(op.getIndex(indices.size() + k));
    Value value = term->kind == TermKind::Map ? mapScalar(body, term, position)
                  : term->kind == TermKind::If
                      ? ifScalar(body, term, position)
                      : rawScalar(body, term, position);
    attn::YieldOp::create(body.builder, op.getLoc(),
                          convert(body, value, *term->kindOf));
    if (!path.empty())
      addCondition(op, indices, numValues, {}, path);
    node = {op.getResult(), indices};
    break;
  }
  }
  nodes[key] = node;
  return node;
}

Lowering::Node Lowering::emitReduce(Term *term, const Path &path,
                                    ArrayRef<IndexVar *> indices,
                                    llvm::StringRef label) {
  Term *operand = term->args[0];
  const Shape &shape = *operand->shape;
  bool overAxis = term->kind == TermKind::OverAxis;
  bool argument = term->reduction == Reduction::Argmax ||
                  term->reduction == Reduction::Argmin;
  // Conditions: those of the path, and its own.
  SmallVector<Term *, 2> conditions(path);
  Path inner = path;
  if (term->condition) {
    conditions.push_back(term->condition);
    require(term->condition, true, inner);
  }
  SmallVector<IndexVar *, 2> reduction = llvm::to_vector<2>(term->vars);
  unsigned numValues = shape.size() - (overAxis ? 1 : 0);
  SmallVector<Extent> values(shape.begin(), shape.begin() + numValues);
  Kind kind = argument ? Kind::Int : *term->kindOf;
  attn::Reducer reducer = reducerOf(term->reduction);
  attn::ComputeOp op;
  if (overAxis) {
    // The last axis is the reduction index.
    model.indices.emplace_back();
    IndexVar *axis = &model.indices.back();
    axis->name = "k";
    axis->extent = shape.back();
    reduction.push_back(axis);
  }
  // Several indices of a softmax are one range.
  if (isNormaliser(term->reduction) && reduction.size() > 1)
    return emitNormaliser(term, inner, indices, conditions, label);
  op = newCompute(term->loc, label, indices, values, reduction, reducer, kind,
                  !conditions.empty());
  Body body = bodyOf(op, op.getBody(), indices, numValues, reduction, inner);
  SmallVector<Value> position;
  for (unsigned k = 0; k < numValues; ++k)
    position.push_back(op.getIndex(indices.size() + k));
  if (overAxis)
    position.push_back(body.indices[reduction.back()]);
  Kind operandKind = argument ? *operand->kindOf : kind;
  attn::YieldOp::create(body.builder, op.getLoc(),
                        scalar(body, operand, position, operandKind));
  if (!conditions.empty())
    addCondition(op, indices, numValues, reduction, conditions);
  return {op.getResult(), llvm::to_vector<2>(indices)};
}

/// A softmax over several indices: the largest x, the sum of exp(x - largest),
/// and x - largest - log(sum), in that order: a sum of the last two would lose
/// the log where x is large. The maximum is the same for all elements, and no
/// adjoint flows through it. If all are -infinity, their difference is
/// undefined: 0 is subtracted instead.
Lowering::Node Lowering::emitNormaliser(Term *term, const Path &path,
                                        ArrayRef<IndexVar *> indices,
                                        ArrayRef<Term *> conditions,
                                        llvm::StringRef label) {
  Term *operand = term->args[0];
  const Shape &values = *operand->shape;
  unsigned numKept = indices.size() + values.size();
  Location loc = location(term->loc);
  Value largest, total;
  // An equation over the kept indices and, as axes or reduced, over the others.
  auto emit = [&](attn::Reducer reducer, llvm::StringRef label,
                  llvm::function_ref<Value(OpBuilder &, Value, Position)> of) {
    bool isResult = reducer == attn::Reducer::none;
    SmallVector<Extent> axes(values.begin(), values.end());
    if (isResult)
      for (IndexVar *var : term->vars)
        axes.push_back(*var->extent);
    ArrayRef<IndexVar *> reduced =
        isResult ? ArrayRef<IndexVar *>() : ArrayRef<IndexVar *>(term->vars);
    attn::ComputeOp op = newCompute(term->loc, label, indices, axes, reduced,
                                    reducer, Kind::Real, !conditions.empty());
    auto placed = [&](Region &region, const Path &path) {
      Body body = bodyOf(op, region, indices, 0, {}, path);
      for (auto [k, var] : llvm::enumerate(term->vars))
        body.indices[var] = region.getArgument(numKept + k);
      return body;
    };
    Body body = placed(op.getBody(), path);
    SmallVector<Value> kept(op.getBody().getArguments().take_front(numKept));
    Value value = scalar(body, operand,
                         ArrayRef(kept).drop_front(indices.size()), Kind::Real);
    attn::YieldOp::create(body.builder, loc, of(body.builder, value, kept));
    if (!conditions.empty()) {
      Body where = placed(op.getCondition(), {});
      emitConditions(where, op, conditions);
    }
    builder.setInsertionPointAfter(op);
    return op.getResult();
  };
  auto real = [&](OpBuilder &b, double number) {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(number));
  };
  auto unless = [&](OpBuilder &b, Value value, double number,
                    double instead) -> Value {
    Value is = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value,
                                     real(b, number));
    return arith::SelectOp::create(b, loc, is, real(b, instead), value);
  };
  auto centred = [&](OpBuilder &b, Value value, Position kept) -> Value {
    Value shift = attn::ReadOp::create(b, loc, largest, kept);
    shift = unless(b, shift, -std::numeric_limits<double>::infinity(), 0);
    shift = attn::StopOp::create(b, loc, shift);
    return arith::SubFOp::create(b, loc, value, shift);
  };
  largest = emit(attn::Reducer::max, "",
                 [](OpBuilder &, Value value, Position) { return value; });
  total = emit(attn::Reducer::sum, "",
               [&](OpBuilder &b, Value value, Position kept) -> Value {
                 return math::ExpOp::create(b, loc, centred(b, value, kept));
               });
  Value result = emit(
      attn::Reducer::none, label,
      [&](OpBuilder &b, Value value, Position kept) -> Value {
        Value sum = unless(b, attn::ReadOp::create(b, loc, total, kept), 0, 1);
        Value own = centred(b, value, kept);
        if (term->reduction == Reduction::Softmax)
          return arith::DivFOp::create(b, loc, math::ExpOp::create(b, loc, own),
                                       sum);
        return arith::SubFOp::create(b, loc, own,
                                     math::LogOp::create(b, loc, sum));
      });
  return {result, llvm::to_vector<2>(indices)};
}

/// a @ b: sum over k of a[.., k] * b[k, ..].
Lowering::Node Lowering::emitContract(Term *term, const Path &path,
                                      ArrayRef<IndexVar *> indices,
                                      llvm::StringRef label) {
  Term *a = term->args[0], *b = term->args[1];
  model.indices.emplace_back();
  IndexVar *k = &model.indices.back();
  k->name = "k";
  k->extent = a->shape->back();
  unsigned numValues = term->shape->size(), numA = a->shape->size() - 1;
  attn::ComputeOp op =
      newCompute(term->loc, label, indices, *term->shape, {k},
                 attn::Reducer::sum, Kind::Real, !path.empty());
  Body body = bodyOf(op, op.getBody(), indices, numValues, {k}, path);
  SmallVector<Value> atA, atB;
  for (unsigned axis = 0; axis < numA; ++axis)
    atA.push_back(op.getIndex(indices.size() + axis));
  atA.push_back(body.indices[k]);
  atB.push_back(body.indices[k]);
  for (unsigned axis = numA; axis < numValues; ++axis)
    atB.push_back(op.getIndex(indices.size() + axis));
  Value left = scalar(body, a, atA, Kind::Real);
  Value right = scalar(body, b, atB, Kind::Real);
  Value product = arith::MulFOp::create(body.builder, op.getLoc(), left, right);
  attn::YieldOp::create(body.builder, op.getLoc(), product);
  if (!path.empty())
    addCondition(op, indices, numValues, {k}, path);
  return {op.getResult(), llvm::to_vector<2>(indices)};
}
