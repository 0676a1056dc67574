//===- ShareLoops.cpp - sums that one loop computes -----------------------===//
//
// Consecutive sums with the same indices that evaluate the same functions
// at the same places become one kernel: a loop has an accumulator for
// each, and evaluates common parts once. `attn-join-sums` has made them
// adjacent.
//
//===----------------------------------------------------------------------===//

#include "passes/kernels/ShareLoops.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/CommonFunctions.h"
#include "passes/analysis/VectorIndex.h"
#include "passes/kernels/Members.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_SHARELOOPS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Returns whether a sum adds values element by element: not a product, and not
/// a scatter.
static bool isPlainSum(ComputeOp op) {
  return op.getReducer() == Reducer::sum && op.getElementType().isF64() &&
         hasCostlyFunction(op) &&
         llvm::none_of(equalitiesOf(op), [&](const Equality &equality) {
           return equality.index < op.getNumParallel();
         });
}

static bool canShare(ComputeOp a, ComputeOp b) {
  return a.getNumParallel() == b.getNumParallel() &&
         a.getNumIndices() == b.getNumIndices() && batchOf(a) == batchOf(b) &&
         // Alone they would have vectors along the same index.
         vectorIndex(a) == vectorIndex(b) &&
         evaluateTogether(a, b, llvm::to_vector(llvm::seq(a.getNumIndices())));
}

/// Returns whether both are computed at the same rows of a strip, and neither
/// is one: its workspace may be where the other one still reads.
static bool canShareInStrips(KernelOp kernel, ComputeOp a, ComputeOp b) {
  return a->getAttr(sharedName) == b->getAttr(sharedName) &&
         !isStrip(kernel, a) && !isStrip(kernel, b);
}

SmallVector<ComputeOp> fovea::attn::sharingLoop(ComputeOp op) {
  SmallVector<ComputeOp> found = {op};
  if (!isPlainSum(op))
    return found;
  auto kernel = dyn_cast<KernelOp>(op->getParentOp());
  while (auto next = dyn_cast_or_null<ComputeOp>(found.back()->getNextNode())) {
    if (!isPlainSum(next) || readsAny(*next, ArrayRef(found)) ||
        !canShare(op, next) || (kernel && !canShareInStrips(kernel, op, next)))
      break;
    found.push_back(next);
  }
  return found;
}

SmallVector<Block *> fovea::attn::blocksOfLoops(ProgramOp program) {
  SmallVector<Block *> blocks = {&program.getBody().front()};
  for (auto kernel : program.getOps<KernelOp>())
    if (kernel.getSchedule() == Schedule::strips)
      blocks.push_back(&kernel.getBody().front());
  return blocks;
}

namespace {
struct ShareLoops : fovea::attn::impl::ShareLoopsBase<ShareLoops> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (Block *block : blocksOfLoops(getOperation()))
      for (auto op : llvm::to_vector(block->getOps<ComputeOp>())) {
        if (op->getBlock() != block)
          continue; // in a kernel by now
        SmallVector<ComputeOp> found = sharingLoop(op);
        if (found.size() > 1)
          makeKernel(Schedule::loop,
                     SmallVector<Operation *>(found.begin(), found.end()));
      }
  }
};
} // namespace
