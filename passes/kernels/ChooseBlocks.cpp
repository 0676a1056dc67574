//===- ChooseBlocks.cpp - the threads of a block --------------------------===//
//
// A block of a GPU computes several units of a launch at a time. Sums over the
// rows of a batch, as gradients of biases and scales, are few and long: with
// smaller blocks more processors have some. A unit is done by the same group of
// threads in any block, so this changes no bits.
//
//===----------------------------------------------------------------------===//

#include "dialect/Blocks.h"
#include "passes/Passes.h"
#include "passes/batch/Batch.h"
#include "passes/kernels/DivideWork.h"
#include "passes/memory/Locations.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_CHOOSEBLOCKS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

namespace {
struct ChooseBlocks : fovea::attn::impl::ChooseBlocksBase<ChooseBlocks> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    // Where products are packed, threads are those of a CPU.
    if (packsProducts(getOperation()))
      return;
    for (auto op : getOperation().getOps<ComputeOp>())
      if (hasUnits(*op) && batchOf(op) == BatchKind::sum)
        setThreads(op, threadsOfWarp);
  }
};
} // namespace
