//===- OrderSums.cpp - in which order equations add up --------------------===//
//
// Floating-point numbers have another sum in another order, and a promise of
// Fovea is that a result has the same bits on every machine. So the order is a
// part of the equation, and stands in the IR ahead of anything that a machine
// decides: which sums have partial results, and which are taken apart, so that
// their terms can be computed where those of other equations are.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/VectorIndex.h"
#include "passes/batch/Batch.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_ORDERSUMS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Whether `op` reads rows, each at the place of its index.
static bool readsRows(ComputeOp op) {
  WalkResult walk = op.walk([&](ReadOp read) {
    if (read.getIndices().size() < 2)
      return WalkResult::advance();
    AccessIndex row = classify(read.getIndices()[0], op);
    return row.kind == AccessIndex::Iterator && row.offset == 0
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Whether `op` is the sum over one length of an element of each row, which do
/// not lie one beside the other: a log-likelihood.
static bool hasScatteredTerms(ComputeOp op) {
  return isa<ProgramOp>(op->getParentOp()) && batchOf(op) == BatchKind::each &&
         op.getReducer() == Reducer::sum && op.getNumIndices() == 1 &&
         op.getNumParallel() == 0 && op.getLower()[0] == 0 &&
         !op.hasCondition() && isa<StringAttr>(op.getExtents()[0]) &&
         bestPartialIndex(op) < 0 && readsRows(op);
}

/// sum[i](f(i)) of an example becomes sum[i](g[i]) with g[i] = f(i).
static void nameTerms(ComputeOp op) {
  OpBuilder builder(op);
  auto terms = ComputeOp::create(
      builder, op.getLoc(), op.getLabel().value_or(""),
      op.getIndices().getValue(), op.getExtents().getValue(), {},
      /*numParallel=*/1, Reducer::none, op.getElementType());
  setBatch(terms, BatchKind::each);
  Block &from = op.getBody().front(), &to = terms.getBody().front();
  to.getOperations().splice(to.end(), from.getOperations());
  from.getArgument(0).replaceAllUsesWith(to.getArgument(0));
  builder.setInsertionPointToEnd(&from);
  Value value =
      ReadOp::create(builder, op.getLoc(), terms, ValueRange{op.getIndex(0)});
  YieldOp::create(builder, op.getLoc(), value);
}

/// A sum over the examples of their products becomes the product that each of
/// them has, and the sum of these.
static void nameExamples(ComputeOp op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  unsigned rank = op.getNumParallel();
  auto sum = ComputeOp::create(builder, op.getLoc(), op.getLabel().value_or(""),
                               op.getIndices().getValue().take_front(rank),
                               op.getExtents().getValue().take_front(rank), {},
                               rank, Reducer::none, op.getElementType());
  op.getResult().replaceAllUsesWith(sum.getResult());
  setBatch(sum, BatchKind::sum);
  setBatch(op, BatchKind::each);
  builder.setInsertionPointToEnd(&sum.getBody().front());
  SmallVector<Value> indices;
  for (unsigned index = 0; index < rank; ++index)
    indices.push_back(sum.getIndex(index));
  Value value = ReadOp::create(builder, op.getLoc(), op, indices);
  YieldOp::create(builder, op.getLoc(), value);
}

namespace {
struct OrderSums : fovea::attn::impl::OrderSumsBase<OrderSums> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    SmallVector<ComputeOp> ops;
    for (auto program : getOperation().getOps<ProgramOp>())
      program.walk([&](ComputeOp op) { ops.push_back(op); });
    for (ComputeOp op : ops) {
      if (batchOf(op) == BatchKind::sum && exampleProductOf(op))
        nameExamples(op);
      if (hasScatteredTerms(op))
        nameTerms(op);
      if (int partial = bestPartialIndex(op); partial >= 0 && !productOf(op))
        op->setAttr(partialName,
                    Builder(op.getContext()).getI64IntegerAttr(partial));
    }
  }
};
} // namespace
