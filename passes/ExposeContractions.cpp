//===- ExposeContractions.cpp - plain factors for matrix products ---------===//

#include "passes/Access.h"
#include "passes/Batch.h"
#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_EXPOSECONTRACTIONS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Whether every axis but the last is read at an index of the op itself, and
/// nothing stands outside the array.
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

/// The factor as an array over these indices of the op.
static ComputeOp makeArray(ReadOp read, ComputeOp op,
                           ArrayRef<unsigned> indices) {
  OpBuilder builder(op);
  SmallVector<Attribute> names, extents;
  // Below the bounds of the sum there may be nothing to read.
  SmallVector<int64_t> lower;
  for (unsigned index : indices) {
    names.push_back(op.getIndices()[index]);
    extents.push_back(op.getExtents()[index]);
    lower.push_back(op.getLower()[index]);
  }
  auto array = ComputeOp::create(builder, read.getLoc(), "", names, extents,
                                 lower, indices.size(), Reducer::none,
                                 read.getResult().getType());
  builder.setInsertionPointToEnd(&array.getBody().front());
  IRMapping mapping;
  for (auto [place, index] : llvm::enumerate(indices))
    mapping.map(op.getIndex(index), array.getIndex(place));
  // What the read needs of the body, in order.
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> list = {read};
  while (!list.empty()) {
    Operation *next = list.pop_back_val();
    if (!needed.insert(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == read->getBlock())
        list.push_back(def);
  }
  Value result;
  for (Operation &inner : op.getBody().front())
    if (needed.contains(&inner))
      result = builder.clone(inner, mapping)->getResult(0);
  YieldOp::create(builder, read.getLoc(), result);
  setBatch(array, BatchKind::each);
  return array;
}

namespace {
struct ExposeContractions
    : fovea::attn::impl::ExposeContractionsBase<ExposeContractions> {
  void expose(ComputeOp op) {
    if (op.getReducer() != Reducer::sum || batchOf(op) != BatchKind::sum ||
        op.hasCondition())
      return;
    auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
    if (!product)
      return;
    ReadOp factors[] = {product.getLhs().getDefiningOp<ReadOp>(),
                        product.getRhs().getDefiningOp<ReadOp>()};
    if (!factors[0] || !factors[1])
      return;
    for (ReadOp read : factors) {
      SmallVector<unsigned> indices;
      if (isPlain(read, op) || !findIndices(read, op, indices))
        continue;
      ComputeOp array = makeArray(read, op, indices);
      OpBuilder builder(read);
      SmallVector<Value> at;
      for (unsigned index : indices)
        at.push_back(op.getIndex(index));
      Value plain = ReadOp::create(builder, read.getLoc(), array, at);
      read.replaceAllUsesWith(plain);
      read.erase();
    }
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      for (auto op : llvm::to_vector(program.getOps<ComputeOp>()))
        expose(op);
  }
};
} // namespace
