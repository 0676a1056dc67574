//===- FuseElementwise.cpp - chains of elementwise equations become one ---===//

#include "dialect/Conditions.h"
#include "passes/Access.h"
#include "passes/Batch.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// A body that is evaluated once for each place of its result, unless a
/// condition says zero.
static bool isElementwise(ComputeOp op) {
  return op.getReducer() == Reducer::none && batchOf(op) != BatchKind::sum &&
         llvm::all_of(op.getLower(), [](int64_t lower) { return lower == 0; });
}

/// The array that an elementwise op copies, element by element; null when it
/// computes something.
static Value copiedBy(ComputeOp op) {
  auto read = op.getYielded().getDefiningOp<ReadOp>();
  if (!isElementwise(op) || op.hasCondition() || !read ||
      !read.getAlternatives().empty() || read.getOtherwise() ||
      read.getArrayType() != op.getResult().getType())
    return Value();
  for (auto [number, index] : llvm::enumerate(read.getIndices()))
    if (index != op.getIndex(number))
      return Value();
  bool isSame =
      isPerExample(read.getArray()) == (batchOf(op) == BatchKind::each);
  return isSame ? read.getArray() : Value();
}

/// A sum of products of two reads that each have an index of the result which
/// the other one lacks stays what it is: a matrix product.
static bool isProduct(ComputeOp op) {
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (op.getReducer() != Reducer::sum || !product)
    return false;
  auto left = product.getLhs().getDefiningOp<ReadOp>();
  auto right = product.getRhs().getDefiningOp<ReadOp>();
  if (!left || !right)
    return false;
  auto hasIndexAlone = [&](ReadOp read, ReadOp other) {
    return llvm::any_of(read.getIndices(), [&](Value index) {
      AccessIndex at = classify(index, op);
      return at.kind == AccessIndex::Iterator &&
             at.iterator < op.getNumParallel() &&
             llvm::none_of(
                 other.getIndices(),
                 [&](Value value) {
                   AccessIndex there = classify(value, op);
                   return there.kind == AccessIndex::Iterator &&
                          there.iterator == at.iterator;
                 });
    });
  };
  return hasIndexAlone(left, right) && hasIndexAlone(right, left);
}

/// The op that reads `op`, if it is one, reads it once, in the same loop, and
/// for each element of its own exactly one: then nothing is computed twice.
static ReadOp onlyRead(ComputeOp op) {
  if (!op.getResult().hasOneUse())
    return {};
  auto read = dyn_cast<ReadOp>(*op.getResult().getUsers().begin());
  if (!read || read.getArray() != op.getResult() ||
      !read.getAlternatives().empty() || read.getOtherwise())
    return {};
  auto reader = read->getParentOfType<ComputeOp>();
  if (!reader || reader->getBlock() != op->getBlock() ||
      read->getBlock() != &reader.getBody().front() ||
      batchOf(reader) != batchOf(op) || isProduct(reader) ||
      reader.getNumIndices() != op.getNumIndices() ||
      llvm::any_of(reader.getLower(), [](int64_t lower) { return lower != 0; }))
    return {};
  // Its indices, in whatever order.
  llvm::SmallDenseSet<Value> seen;
  bool isInOrder = true;
  for (auto [number, index] : llvm::enumerate(read.getIndices())) {
    AccessIndex at = classify(index, reader);
    if (at.kind != AccessIndex::Iterator || at.offset != 0 ||
        reader.getExtents()[at.iterator] != op.getExtents()[number] ||
        !seen.insert(index).second)
      return {};
    isInOrder &= at.iterator == number;
  }
  // What the reader never asks for need not be zero.
  if (op.hasCondition() &&
      (!isInOrder ||
       !follows(op.getCondition().front().getTerminator()->getOperand(0), op,
                guardsOf(reader))))
    return {};
  return read;
}

namespace {
struct FuseElementwise
    : fovea::attn::impl::FuseElementwiseBase<FuseElementwise> {
  void fuse(ComputeOp op) {
    if (Value source = copiedBy(op)) {
      op.getResult().replaceAllUsesWith(source);
      op.erase();
      return;
    }
    ReadOp read = isElementwise(op) ? onlyRead(op) : ReadOp();
    if (!read)
      return;
    OpBuilder builder(read);
    read.replaceAllUsesWith(
        inlineRegion(builder, op.getBody(), read.getIndices()));
    read.erase();
    op.erase();
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<ComputeOp> ops;
      program.walk([&](ComputeOp op) { ops.push_back(op); });
      // In order: what an op reads is already in it when it goes on.
      for (ComputeOp op : ops)
        fuse(op);
    }
  }
};
} // namespace
