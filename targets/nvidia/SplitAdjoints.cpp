//===- SplitAdjoints.cpp - adjoints by queries and by keys ----------------===//
//
// The adjoints of attention are sums over keys (for queries) and sums over
// queries (for keys and values). With rounded factors, they become two kernels,
// each with its own rows, as in FlashAttention-2 (Dao, 2023). So no sum is
// split among concurrent blocks.
//
// Both recompute the scores. Weights follow from the scores and the
// log-sum-exp of each query, which the forward pass keeps. The subtrahend
// in the adjoint of a softmax is a product of the weighted sum and its
// adjoint.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"
#include "targets/nvidia/AttentionAdjoints.h"
#include "targets/nvidia/Passes.h"
#include "targets/nvidia/Target.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_SPLITADJOINTS
#include "targets/nvidia/Passes.h.inc"
} // namespace fovea::attn

/// Turns the softmax's score into a separate equation.
void AttentionAdjoints::nameScore() {
  auto read = weights.getYielded().getDefiningOp<ReadOp>();
  if (read && pairs.contains(read.getArray().getDefiningOp()) &&
      plainRead(read, read.getArray())) {
    score = read.getArray().getDefiningOp<ComputeOp>();
    return;
  }
  OpBuilder builder(weights);
  SmallVector<unsigned> order;
  for (unsigned index = 0; index < weights.getNumIndices(); ++index)
    order.push_back(index);
  score = makeOver(builder, weights, order, order.size(), Reducer::none,
                   weights.hasCondition());
  setBatch(score, BatchKind::each);
  copyBody(weights, score, order, /*withCondition=*/true);
  Block &body = weights.getBody().front();
  body.getTerminator()->erase();
  while (!body.empty())
    body.back().erase();
  builder.setInsertionPointToEnd(&body);
  Value value = ReadOp::create(builder, weights.getLoc(), score,
                               ValueRange(body.getArguments()));
  YieldOp::create(builder, weights.getLoc(), value);
  Numbers numbers(order.begin(), order.end());
  pairs.insert({score, numbers});
  forward.insert(score);
}

/// The log-sum-exp of each query.
void AttentionAdjoints::keepSums() {
  OpBuilder builder(weights->getContext());
  builder.setInsertionPointAfter(weights);
  SmallVector<unsigned> order;
  for (unsigned index = 0; index < weights.getNumIndices(); ++index)
    order.push_back(index);
  sums = makeOver(builder, weights, order, weights.getNumParallel(),
                  Reducer::logsumexp, weights.hasCondition());
  sums->setDiscardableAttrs(weights->getDiscardableAttrDictionary());
  sums.setOrderAttr(weights.getOrderAttr());
  copyBody(weights, sums, order, /*withCondition=*/true);
}

/// Clones the regions of `from`, whose index order[i] is index i of `to`.
void AttentionAdjoints::copyBody(ComputeOp from, ComputeOp to,
                                 ArrayRef<unsigned> order, bool withCondition) {
  auto copy = [&](Region &source, Region &target) {
    IRMapping values;
    for (auto [place, index] : llvm::enumerate(order))
      values.map(source.getArgument(index), target.getArgument(place));
    OpBuilder builder = OpBuilder::atBlockEnd(&target.front());
    for (Operation &inner : source.front())
      builder.clone(inner, values);
  };
  if (withCondition && from.hasCondition())
    copy(from.getCondition(), to.getCondition());
  copy(from.getBody(), to.getBody());
}

/// The subtrahend in the adjoint of the softmax, as a product of the weighted
/// sum and its adjoint.
void AttentionAdjoints::replaceSum(ComputeOp sum) {
  auto [left, right] = factorsOf(sum);
  auto adjoint = (left.getArray() == weights.getResult() ? right : left)
                     .getArray()
                     .getDefiningOp<ComputeOp>();
  ComputeOp read = reads.front();
  ExampleProduct product = *exampleProductOf(adjoint),
                 ofRead = *exampleProductOf(read);
  Numbers numbers = *numbersOf(sum), ofRows = *numbersOf(read);
  OpBuilder builder(sum->getContext());
  builder.setInsertionPointAfter(place);
  SmallVector<Attribute> names(sum.getIndices().getValue().drop_back()),
      extents(sum.getExtents().getValue().drop_back());
  names.push_back(read.getIndices()[ofRead.n]);
  extents.push_back(read.getExtents()[ofRead.n]);
  auto dot = ComputeOp::create(
      builder, sum.getLoc(), sum.getLabel().value_or(""), names, extents, {},
      sum.getNumParallel(), Reducer::sum, sum.getElementType());
  dot->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
  dot.setOrderAttr(sum.getOrderAttr());
  builder.setInsertionPointToEnd(&dot.getBody().front());
  Value element = dot.getIndex(dot.getNumParallel());
  auto indexOf = [&](int number) -> Value {
    return dot.getIndex(llvm::find(numbers, number) - numbers.begin());
  };
  const Numbers &ofPairs = pairs.find(adjoint)->second;
  SmallVector<Value> atRows, atRead;
  for (const AccessIndex &axis : product.leftAxes)
    atRows.push_back(
        axis.iterator == product.k ? element : indexOf(ofPairs[axis.iterator]));
  for (unsigned index = 0; index < read.getNumParallel(); ++index)
    atRead.push_back(index == ofRead.n ? element : indexOf(ofRows[index]));
  Value rows =
      ReadOp::create(builder, sum.getLoc(), product.left.getArray(), atRows);
  Value found = ReadOp::create(builder, sum.getLoc(), read.getResult(), atRead);
  Value both = arith::MulFOp::create(builder, sum.getLoc(), rows, found);
  YieldOp::create(builder, sum.getLoc(), both);
  sum.getResult().replaceAllUsesWith(dot.getResult());
  place = dot;
}

/// Makes an equation read copies of pairs.
void AttentionAdjoints::redirect(ComputeOp op, bool isTurned) {
  op.walk([&](ReadOp read) {
    Operation *pair = read.getArray().getDefiningOp();
    auto copy = copies.find(read.getArray());
    if (copy == copies.end())
      return;
    SmallVector<Value> at(read.getIndices());
    if (isTurned)
      std::swap(at[axisOf(pair, row)], at[axisOf(pair, column)]);
    read.getArrayMutable().assign(copy->second);
    read.getIndicesMutable().assign(at);
  });
}

/// A copy of pairs, transposed if keys are the rows.
Value AttentionAdjoints::computed(OpBuilder &builder, ComputeOp op,
                                  bool isTurned) {
  const Numbers &numbers = pairs.find(op)->second;
  SmallVector<unsigned> order;
  for (unsigned index = 0; index < op.getNumIndices(); ++index)
    order.push_back(index);
  if (isTurned)
    std::swap(order[axisOf(op, row)], order[axisOf(op, column)]);
  bool isWeights = op == weights;
  bool isGuarded = !isWeights && weights.hasCondition() && isBackward(op) &&
                   !exampleProductOf(op) && vanishes(op);
  unsigned rank = numbers.size();
  ComputeOp copy = makeOver(builder, op, order, rank,
                            isWeights ? Reducer::none : op.getReducer(),
                            op.hasCondition() || isGuarded);
  if (isWeights)
    setBatch(copy, BatchKind::each);
  else
    copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  copyBody(op, copy, order, /*withCondition=*/!isGuarded);
  auto indexOf = [&](Region &region, unsigned number) -> Value {
    unsigned axis = llvm::find(numbers, int(number)) - numbers.begin();
    return region.getArgument(llvm::find(order, axis) - order.begin());
  };
  if (isGuarded) {
    SmallVector<Value> at;
    for (unsigned number = 0; number < rank; ++number)
      at.push_back(indexOf(copy.getCondition(), number));
    OpBuilder inside = OpBuilder::atBlockEnd(&copy.getCondition().front());
    YieldOp::create(inside, op.getLoc(),
                    inlineRegion(inside, weights.getCondition(), at));
  }
  if (isWeights) {
    Operation *end = copy.getBody().front().getTerminator();
    OpBuilder inside(end);
    SmallVector<Value> at;
    for (unsigned number = 0; number + 1 < rank; ++number)
      at.push_back(indexOf(copy.getBody(), number));
    Value sum = ReadOp::create(inside, op.getLoc(), sums.getResult(), at);
    Value less =
        arith::SubFOp::create(inside, op.getLoc(), end->getOperand(0), sum);
    end->setOperand(0, math::ExpOp::create(inside, op.getLoc(), less));
  }
  redirect(copy, isTurned);
  if (ProductAttr product = productOf(op); product && isTurned)
    setProduct(copy,
               ProductAttr::get(
                   op.getContext(), product.getKind(), 1 - product.getLeft(),
                   product.getBatch(), product.getRows(), product.getColumns(),
                   product.getTerms(), product.getRun(), product.getRange(),
                   product.getColumnBand().turned(), product.getTermBand()));
  return copy.getResult();
}

/// Moves products after all that they read, with pairs of their own.
void AttentionAdjoints::move(ArrayRef<ComputeOp> products, bool isTurned) {
  if (products.empty())
    return;
  copies.clear();
  OpBuilder builder(weights->getContext());
  builder.setInsertionPointAfter(place);
  for (Operation *pair : neededBy(products)) {
    Value copy = computed(builder, cast<ComputeOp>(pair), isTurned);
    copies[pair->getResult(0)] = copy;
    place = copy.getDefiningOp();
  }
  for (ComputeOp op : products) {
    redirect(op, isTurned);
    op->moveAfter(place);
    place = op;
  }
}

void AttentionAdjoints::split() {
  nameScore();
  keepSums();
  if (place == weights)
    place = sums;
  for (ComputeOp sum : taken)
    replaceSum(sum);
  move(byQueries, /*isTurned=*/false);
  move(byKeys, /*isTurned=*/true);
  SmallVector<Operation *> old(taken.begin(), taken.end());
  for (const auto &[op, axes] : llvm::reverse(pairs))
    if (isBackward(op))
      old.push_back(op);
  llvm::sort(old,
             [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : old)
    if (op->use_empty())
      op->erase();
}

namespace {
struct SplitAdjoints : fovea::attn::impl::SplitAdjointsBase<SplitAdjoints> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    NvidiaTargetAttr target = nvidiaTargetOf(getOperation());
    if (!target || target.getSharedBytes() == 0)
      return;
    SmallVector<ComputeOp> softmaxes;
    for (ComputeOp op : getOperation().getOps<ComputeOp>())
      if (op.getReducer() == Reducer::softmax)
        softmaxes.push_back(op);
    for (ComputeOp op : softmaxes) {
      AttentionAdjoints adjoints(op);
      if (adjoints.find())
        adjoints.split();
    }
  }
};
} // namespace
