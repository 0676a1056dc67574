//===- OrderSums.cpp - in which order derivatives add up ------------------===//
//
// Equations of the spec have had an order since they were written. Here
// derivatives get theirs, from the same function and before any machine
// decision. Some sums are split, so that their terms can be computed with other
// equations.
//
//===----------------------------------------------------------------------===//

#include "dialect/RoundedFactors.h"
#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Orders.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/VectorIndex.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_ORDERSUMS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Returns whether `op` reads rows, each at the place of its index.
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

/// Returns whether `op` is the sum over one length of an element of each row,
/// not stored contiguously: a log-likelihood. A fused sum keeps its products,
/// which would be rounded as terms.
static bool hasScatteredTerms(ComputeOp op) {
  if (OrderAttr order = op.getOrderAttr(); order && order.getFused())
    return false;
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

/// A sum over the examples of their products becomes the product of each of
/// them, and the sum of these.
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
      // Equations of the spec have had an order since they were written.
      if (op.getReducer() == Reducer::none || op.getOrderAttr())
        continue;
      Examples examples(op->getParentOfType<ProgramOp>());
      op.setOrderAttr(orderOf(op, examples));
      if (allowsRoundedFactors(op) && isLargeProduct(op, examples))
        setRoundsFactors(op);
    }
  }
};
} // namespace
