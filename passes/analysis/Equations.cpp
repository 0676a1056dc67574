//===- Equations.cpp - equations as passes find and make them -------------===//

#include "passes/analysis/Equations.h"
#include "dialect/Precision.h"
#include "passes/analysis/Access.h"

using namespace mlir;
using namespace fovea::attn;

OrderAttr fovea::attn::orderOver(ComputeOp from, ArrayRef<unsigned> indices,
                                 unsigned numParallel) {
  OrderAttr order = from.getOrderAttr();
  auto reduced = indices.drop_front(numParallel);
  bool isSame = reduced.size() == from.getNumReduction() &&
                llvm::all_of(reduced, [&](unsigned index) {
                  return index >= from.getNumParallel();
                });
  if (!order || !isSame)
    return {};
  if (order.isChain())
    return order;
  const auto *lanes = llvm::find(indices, order.getLanes());
  return OrderAttr::get(from.getContext(), lanes - indices.begin(),
                        order.getFused());
}

OrderAttr fovea::attn::movedBy(int64_t count, OrderAttr order) {
  if (!order || order.isChain())
    return order;
  return OrderAttr::get(order.getContext(), order.getLanes() + count,
                        order.getFused());
}

ComputeOp fovea::attn::makeOver(OpBuilder &builder, ComputeOp like,
                                ArrayRef<unsigned> indices,
                                unsigned numParallel, Reducer reducer,
                                bool hasCondition) {
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  for (unsigned index : indices) {
    names.push_back(like.getIndices()[index]);
    extents.push_back(like.getExtents()[index]);
    lower.push_back(like.getLower()[index]);
  }
  auto op = ComputeOp::create(
      builder, like.getLoc(), like.getLabel().value_or(""), names, extents,
      lower, numParallel, reducer, like.getElementType(), hasCondition);
  if (reducer != Reducer::none && reducer == like.getReducer())
    op.setOrderAttr(orderOver(like, indices, numParallel));
  keepPrecision(like, op);
  return op;
}

ComputeOp
fovea::attn::mapElements(Value array, StringRef label,
                         llvm::function_ref<Value(OpBuilder &, Value)> map) {
  OpBuilder builder(array.getContext());
  builder.setInsertionPointAfterValue(array);
  Location loc = array.getLoc();
  auto type = cast<ArrayType>(array.getType());
  SmallVector<Attribute> names;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    names.push_back(builder.getStringAttr("p" + Twine(axis)));
  auto result = ComputeOp::create(
      builder, loc, label, names, type.getShape().getValue(), {},
      type.getRank(), Reducer::none, type.getScalarType());
  builder.setInsertionPointToEnd(&result.getBody().front());
  Value element =
      ReadOp::create(builder, loc, array, result.getBody().getArguments());
  YieldOp::create(builder, loc, map(builder, element));
  return result;
}

ComputeOp fovea::attn::reordered(OpBuilder &builder, ComputeOp op,
                                 ArrayRef<unsigned> order) {
  ComputeOp result = makeOver(builder, op, order, op.getNumParallel(),
                              op.getReducer(), op.hasCondition());
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), result->getRegions())) {
    if (from.empty())
      continue;
    IRMapping values;
    for (auto [place, index] : llvm::enumerate(order))
      values.map(from.getArgument(index), to.getArgument(place));
    builder.setInsertionPointToEnd(&to.front());
    for (Operation &inner : from.front())
      builder.clone(inner, values);
  }
  return result;
}

ComputeOp fovea::attn::makeRows(OpBuilder &builder, ReadOp read, ComputeOp op,
                                ArrayRef<unsigned> indices) {
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  for (unsigned index : indices) {
    names.push_back(op.getIndices()[index]);
    extents.push_back(op.getExtents()[index]);
    lower.push_back(op.getLower()[index]);
  }
  auto rows = ComputeOp::create(builder, read.getLoc(), "", names, extents,
                                lower, indices.size(), Reducer::none,
                                read.getResult().getType());
  IRMapping mapping;
  for (auto [place, index] : llvm::enumerate(indices))
    mapping.map(op.getIndex(index), rows.getIndex(place));
  // The body ops that the read depends on, in order.
  llvm::SetVector<Operation *> needed;
  needed.insert(read);
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == read->getBlock())
        needed.insert(def);
  OpBuilder body = OpBuilder::atBlockEnd(&rows.getBody().front());
  Value result;
  for (Operation &inner : op.getBody().front())
    if (needed.contains(&inner))
      result = body.clone(inner, mapping)->getResult(0);
  YieldOp::create(body, read.getLoc(), result);
  return rows;
}

void fovea::attn::readRows(ReadOp read, ComputeOp op, ComputeOp rows,
                           ArrayRef<unsigned> indices) {
  OpBuilder builder(read);
  SmallVector<Value> at;
  for (unsigned index : indices)
    at.push_back(op.getIndex(index));
  Value row = ReadOp::create(builder, read.getLoc(), rows.getResult(), at);
  read.replaceAllUsesWith(row);
  read.erase();
}

ComputeOp fovea::attn::makeTurned(Value array, ArrayRef<unsigned> axes) {
  OpBuilder builder(array.getContext());
  builder.setInsertionPointAfterValue(array);
  auto type = cast<ArrayType>(array.getType());
  SmallVector<Attribute> names, extents;
  for (unsigned axis : axes) {
    names.push_back(builder.getStringAttr("d" + Twine(axis)));
    extents.push_back(type.getExtent(axis));
  }
  auto copy =
      ComputeOp::create(builder, array.getLoc(), "", names, extents, {},
                        axes.size(), Reducer::none, type.getElementType());
  builder.setInsertionPointToEnd(&copy.getBody().front());
  SmallVector<Value> at(axes.size());
  for (auto [place, axis] : llvm::enumerate(axes))
    at[axis] = copy.getIndex(place);
  Value element = ReadOp::create(builder, array.getLoc(), array, at);
  YieldOp::create(builder, array.getLoc(), element);
  return copy;
}

Value fovea::attn::copiedBy(ComputeOp op) {
  auto read = op.getYielded().getDefiningOp<ReadOp>();
  bool isCopy = op.getReducer() == Reducer::none && !op.hasCondition() &&
                read && read.getAlternatives().empty() &&
                !read.getOtherwise() &&
                read.getArrayType() == op.getResult().getType() &&
                llvm::equal(read.getIndices(), op.getBody().getArguments()) &&
                startsAtZero(op);
  return isCopy ? read.getArray() : Value();
}

bool fovea::attn::isOfObjective(OutputOp output) {
  StringRef target = output.getTarget();
  return output.getValue().getDefiningOp<ChoiceOp>() ||
         llvm::is_contained({"nll", "logp", "choices", "penalty"}, target) ||
         llvm::any_of(
             ArrayRef{"surrogate.", "estimate.", "state.", "grad/", "adjoint/"},
             [&](StringRef prefix) { return target.starts_with(prefix); }) ||
         isUpdate(target);
}

bool fovea::attn::isUpdate(StringRef equation) {
  return equation.starts_with("update/") ||
         equation.starts_with("update.once/");
}

SetVector<Operation *> fovea::attn::neededBy(SystemOp system, bool objective) {
  SetVector<Operation *> needed;
  for (Operation &op : system.getBody().front()) {
    auto output = dyn_cast<OutputOp>(op);
    if (output ? isOfObjective(output) == objective
               : objective && isa<MarkOp>(op))
      needed.insert(&op);
  }
  for (unsigned i = 0; i < needed.size(); ++i)
    forArrays(*needed[i], [&](Operation *, Value read) {
      if (Operation *def = read.getDefiningOp())
        needed.insert(def);
    });
  return needed;
}

SmallVector<Operation *> fovea::attn::scalarsFor(Value scalar, Block *block) {
  llvm::SetVector<Operation *> needed;
  auto add = [&](Value value) {
    if (Operation *def = value.getDefiningOp())
      if (Operation *own = block->findAncestorOpInBlock(*def))
        needed.insert(own);
  };
  add(scalar);
  for (size_t i = 0; i < needed.size(); ++i)
    needed[i]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        add(operand);
    });
  SmallVector<Operation *> ops;
  for (Operation &op : *block)
    if (needed.contains(&op))
      ops.push_back(&op);
  return ops;
}

Value fovea::attn::copyScalar(Value scalar, Block *block, OpBuilder &at,
                              IRMapping &values) {
  for (Operation *op : scalarsFor(scalar, block))
    at.clone(*op, values);
  return values.lookupOrDefault(scalar);
}
