//===- DropIndices.cpp - what is the same at all places is one ------------===//
//
// An equation that does not look at one of its indices is computed once for all
// places of it: W q[t] inside of a score over t and i is one product per t. Its
// readers then may not look at the index either, so the pass goes on to them.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"

#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_DROPINDICES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// Whether `op` gives the same at all places of its index `index`.
static bool isUnused(ComputeOp op, unsigned index) {
  return llvm::all_of(op->getRegions(), [&](Region &region) {
    return region.empty() || region.getArgument(index).use_empty();
  });
}

/// The reads of what `op` gives, if others only read it, and never outside of
/// its extents.
static std::optional<SmallVector<ReadOp>> readsOf(ComputeOp op) {
  Value array = op.getResult();
  SmallVector<ReadOp> reads;
  for (Operation *user : array.getUsers()) {
    ReadOp read = plainRead(user, array);
    if (!read || read.getOtherwise() || op->isAncestor(read))
      return std::nullopt;
    reads.push_back(read);
  }
  return reads;
}

/// The parallel indices that `op` can do without.
static llvm::SmallBitVector unusedIndices(ComputeOp op, SystemOp system) {
  llvm::SmallBitVector unused(op.getNumParallel());
  for (unsigned index = 0; index < op.getNumParallel(); ++index)
    if (isUnused(op, index))
      unused.set(index);
  // A length that varies along an index needs it.
  for (auto [index, extent] : llvm::enumerate(op.getExtents()))
    if ((index >= unused.size() || !unused[index]) &&
        variesInside(extent, system))
      unused.reset();
  return unused;
}

static void dropIndices(ComputeOp op, const llvm::SmallBitVector &unused,
                        ArrayRef<ReadOp> reads) {
  OpBuilder builder(op);
  SmallVector<unsigned> left;
  for (unsigned index = 0; index < op.getNumIndices(); ++index)
    if (index >= unused.size() || !unused[index])
      left.push_back(index);
  ComputeOp once =
      makeOver(builder, op, left, op.getNumParallel() - unused.count(),
               op.getReducer(), op.hasCondition());
  once->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), once->getRegions())) {
    if (from.empty())
      continue;
    IRMapping values;
    for (auto [number, index] : llvm::enumerate(left))
      values.map(from.getArgument(index), to.getArgument(number));
    OpBuilder body = OpBuilder::atBlockEnd(&to.front());
    for (Operation &inner : from.front())
      body.clone(inner, values);
  }
  for (ReadOp read : reads) {
    // Axes of the result: the parallel indices, then those that a softmax has.
    SmallVector<Value> at;
    for (auto [axis, index] : llvm::enumerate(read.getIndices()))
      if (axis >= unused.size() || !unused[axis])
        at.push_back(index);
    OpBuilder inner(read);
    Value element = ReadOp::create(inner, read.getLoc(), once.getResult(), at);
    read.replaceAllUsesWith(element);
    read.erase();
  }
  op.erase();
}

namespace {
struct DropIndices : fovea::attn::impl::DropIndicesBase<DropIndices> {
  void runOnSystem(SystemOp system) {
    llvm::SetVector<Operation *> worklist;
    for (auto op : system.getOps<ComputeOp>())
      worklist.insert(op);
    while (!worklist.empty()) {
      auto op = cast<ComputeOp>(worklist.pop_back_val());
      llvm::SmallBitVector unused = unusedIndices(op, system);
      std::optional<SmallVector<ReadOp>> reads = readsOf(op);
      if (unused.none() || !reads || reads->empty())
        continue;
      for (ReadOp read : *reads)
        if (auto reader = read->getParentOfType<ComputeOp>(); reader)
          worklist.insert(reader);
      dropIndices(op, unused, *reads);
    }
  }

  void runOnOperation() override {
    for (auto system : getOperation().getOps<SystemOp>())
      runOnSystem(system);
  }
};
} // namespace
