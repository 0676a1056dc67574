//===- ChooseBlocks.cpp - the threads of a block --------------------------===//
//
// A block of a GPU computes several units of a launch at a time. Sums over the
// rows of a batch, such as gradients of biases and scales, are few and long:
// with smaller blocks more processors get one. The same group of threads
// computes a unit in any block, so this changes no bits.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Batch.h"
#include "passes/kernels/DivideWork.h"
#include "targets/nvidia/Blocks.h"
#include "targets/nvidia/Passes.h"
#include "targets/nvidia/Target.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_CHOOSEBLOCKS
#include "targets/nvidia/Passes.h.inc"
} // namespace fovea::attn

namespace {
struct ChooseBlocks : fovea::attn::impl::ChooseBlocksBase<ChooseBlocks> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    if (!nvidiaTargetOf(getOperation()))
      return;
    getOperation().walk([](ComputeOp op) {
      // Those of a kernel decide for it.
      auto kernel = dyn_cast<KernelOp>(op->getParentOp());
      Operation *launched = kernel ? kernel.getOperation() : op.getOperation();
      if (isa<ProgramOp>(launched->getParentOp()) && hasUnits(*launched) &&
          batchOf(op) == BatchKind::sum)
        setThreads(op, threadsOfWarp);
    });
  }
};
} // namespace
