//===- FormSums.cpp - sums over all examples in one launch ----------------===//
//
// A layer norm has gradients of its scale and its bias, and the product before
// it one of its bias. These sums are over the same rows, and equally long. One
// kernel computes them: each keeps its order, and they need one launch.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/VectorIndex.h"
#include "passes/kernels/Members.h"
#include "targets/nvidia/FormPlaces.h"
#include "targets/nvidia/Passes.h"
#include "targets/nvidia/Target.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FORMSUMS
#include "targets/nvidia/Passes.h.inc"
} // namespace fovea::attn

/// The accumulators of more would need too many registers.
static constexpr size_t mostSums = 8;

static bool isSumOverExamples(ComputeOp op) {
  bool readsShortRows = true;
  forArrays(*op, [&](Operation *, Value array) {
    readsShortRows &= hasShortRows(cast<ArrayType>(array.getType()));
  });
  return readsShortRows && batchOf(op) == BatchKind::sum &&
         op.getReducer() == Reducer::sum && op.getElementType().isF64() &&
         !op.hasCondition() && !productOf(op) && !scatteredBy(op);
}

/// Returns whether one loop can compute both, each in its own order.
static bool haveSameLoop(ComputeOp a, ComputeOp b) {
  return a.getNumParallel() == b.getNumParallel() &&
         a.getExtents() == b.getExtents() && a.getLower() == b.getLower() &&
         vectorIndex(a) == vectorIndex(b);
}

namespace {
struct FormSums : fovea::attn::impl::FormSumsBase<FormSums> {
  void runOnOperation() override;
};
} // namespace

/// Whether arrays should not live longer for the sake of sums: these ops take
/// long, or much memory.
static bool endsRun(Operation &op) {
  auto compute = dyn_cast<ComputeOp>(op);
  auto kernel = dyn_cast<KernelOp>(op);
  return isLaunched(op) && !(compute && !productOf(compute)) &&
         !(kernel && kernel.getSchedule() == Schedule::places);
}

void FormSums::runOnOperation() {
  ProgramOp program = getOperation();
  if (failed(verifyBatched(program)))
    return signalPassFailure();
  if (!nvidiaTargetOf(program))
    return;
  std::vector<SmallVector<Operation *>> all, open;
  auto close = [&](llvm::function_ref<bool(ArrayRef<Operation *>)> isClosed) {
    auto closed =
        llvm::partition(open, [&](auto &run) { return !isClosed(run); });
    all.insert(all.end(), closed, open.end());
    open.erase(closed, open.end());
  };
  for (Operation &op : program.getBody().front()) {
    close([&](ArrayRef<Operation *> run) {
      return endsRun(op) || readsAny(op, run) || run.size() == mostSums;
    });
    auto sum = dyn_cast<ComputeOp>(op);
    if (!sum || !isSumOverExamples(sum))
      continue;
    auto same = llvm::find_if(open, [&](ArrayRef<Operation *> run) {
      return haveSameLoop(cast<ComputeOp>(run.front()), sum);
    });
    if (same == open.end())
      open.push_back({sum});
    else
      same->push_back(sum);
  }
  close([](ArrayRef<Operation *>) { return true; });
  for (ArrayRef<Operation *> run : all)
    if (run.size() > 1)
      makeKernel(Schedule::loop, run);
}
