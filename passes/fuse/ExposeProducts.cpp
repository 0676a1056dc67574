//===- ExposeProducts.cpp - plain factors for matrix products ---------===//

#include "passes/fuse/ExposeProducts.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_EXPOSEPRODUCTS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Returns whether every axis except the last is read at an index of the op
/// itself, inside the array.
static bool isPlain(ReadOp read, ComputeOp op) {
  if (!read.getAlternatives().empty() || read.getOtherwise())
    return false;
  if (read.getIndices().empty())
    return true;
  for (Value index : read.getIndices().drop_back()) {
    AccessIndex access = classify(index, op);
    if (access.kind != AccessIndex::Iterator || access.offset != 0)
      return false;
  }
  return true;
}

/// The indices of the op that a read depends on, if each axis depends on one
/// and the last is the index itself: then a row is a row of the new array.
static bool findIndices(ReadOp read, ComputeOp op,
                        SmallVectorImpl<unsigned> &indices) {
  if (read.getIndices().size() < 2)
    return false;
  for (Value index : read.getIndices()) {
    AccessIndex access = classify(index, op);
    if (access.kind != AccessIndex::Iterator ||
        llvm::is_contained(indices, access.iterator))
      return false;
    indices.push_back(access.iterator);
  }
  return indices.back() < op.getNumParallel() &&
         isa<IntegerAttr>(op.getExtents()[indices.back()]);
}

/// Narrow rows are computed as fast as a copy.
static constexpr int64_t leastColumns = 16, leastTerms = 8;

/// The left side of a product with weights C[rows.., column] = sum[term](left *
/// right), if it is not all rows of an array but individual elements.
static std::optional<HiddenRows> hiddenLeft(ComputeOp op, ReadOp left,
                                            ReadOp right) {
  unsigned term = op.getNumParallel();
  if (term < 2 || op.getNumReduction() != 1 || !isPerExample(left.getArray()) ||
      isPerExample(right.getArray()) || right.getIndices().size() != 2 ||
      !right.getAlternatives().empty() || right.getOtherwise() ||
      llvm::any_of(op.getLower(), [](int64_t lower) { return lower != 0; }))
    return std::nullopt;
  auto isLarge = [&](unsigned index, int64_t least) {
    auto number = dyn_cast<IntegerAttr>(op.getExtents()[index]);
    return number && number.getInt() >= least;
  };
  unsigned column = term - 1;
  if (!isLarge(column, leastColumns) || !isLarge(term, leastTerms))
    return std::nullopt;
  AccessIndex first = classify(right.getIndices()[0], op),
              second = classify(right.getIndices()[1], op);
  if (first.kind != AccessIndex::Iterator ||
      second.kind != AccessIndex::Iterator ||
      std::min(first.iterator, second.iterator) != column ||
      std::max(first.iterator, second.iterator) != term)
    return std::nullopt;
  HiddenRows hidden = {left, {}};
  bool isWhole = left.getAlternatives().empty() && !left.getOtherwise();
  for (auto [axis, value] : llvm::enumerate(left.getIndices())) {
    AccessIndex index = classify(value, op);
    if (index.kind != AccessIndex::Iterator ||
        index.iterator != (axis == column ? term : axis))
      return std::nullopt;
    if (axis != column)
      isWhole &= index.offset == 0 &&
                 left.getArrayType().getExtent(axis) == op.getExtents()[axis];
    hidden.indices.push_back(index.iterator);
  }
  return hidden.indices.size() == term && !isWhole ? std::optional(hidden)
                                                   : std::nullopt;
}

SmallVector<HiddenRows> fovea::attn::hiddenRows(ComputeOp op) {
  if (op.getReducer() != Reducer::sum || batchOf(op) == BatchKind::once ||
      op.hasCondition())
    return {};
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!product)
    return {};
  ReadOp factors[] = {product.getLhs().getDefiningOp<ReadOp>(),
                      product.getRhs().getDefiningOp<ReadOp>()};
  if (!factors[0] || !factors[1] || factors[0] == factors[1])
    return {};
  SmallVector<HiddenRows> hidden;
  if (batchOf(op) == BatchKind::each) {
    for (unsigned side : {0, 1})
      if (auto left = hiddenLeft(op, factors[side], factors[1 - side]))
        hidden.push_back(*left);
    return hidden;
  }
  for (ReadOp read : factors) {
    SmallVector<unsigned> indices;
    if (!isPlain(read, op) && findIndices(read, op, indices))
      hidden.push_back({read, indices});
  }
  return hidden;
}

namespace {
struct ExposeProducts : fovea::attn::impl::ExposeProductsBase<ExposeProducts> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      for (auto op : llvm::to_vector(program.getOps<ComputeOp>()))
        for (auto &[read, indices] : hiddenRows(op)) {
          OpBuilder builder(op);
          ComputeOp rows = makeRows(builder, read, op, indices);
          setBatch(rows, BatchKind::each);
          readRows(read, op, rows, indices);
        }
  }
};
} // namespace
