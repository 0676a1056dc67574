//===- FormRows.cpp - equations of a step, example by example -------------===//
//
// In a loop, consecutive equations of an example become one kernel: the row of
// an example stays in the nearest cache from one to the next, and a step needs
// one launch. A matrix product needs its complete input, so it separates two
// such kernels.
//
//===----------------------------------------------------------------------===//

#include "passes/kernels/FormRows.h"
#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/batch/Batch.h"
#include "passes/kernels/Members.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FORMROWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Whether an op is an equation that each example has for itself.
static bool isByRows(Operation &op) {
  auto compute = dyn_cast<ComputeOp>(op);
  return compute && batchOf(compute) == BatchKind::each && !productOf(compute);
}

SmallVector<RunOfRows> fovea::attn::runsOfRows(Block &body) {
  SmallVector<RunOfRows> runs;
  RunOfRows run;
  auto close = [&] {
    if (llvm::count_if(run, llvm::IsaPred<ComputeOp>) > 1)
      runs.push_back(run);
    run.clear();
  };
  for (Operation &op : body) {
    auto view = dyn_cast<ReshapeOp>(op);
    if (isByRows(op) ||
        (view && llvm::is_contained(run, view.getOperand().getDefiningOp())))
      run.push_back(&op);
    else if (isLaunched(op))
      close();
  }
  close();
  return runs;
}

/// Takes views that no member reads out of the run, and moves them after it.
static void dropViews(RunOfRows &run) {
  auto isMember = [&](Operation *user) {
    return llvm::any_of(run,
                        [&](Operation *op) { return op->isAncestor(user); });
  };
  Operation *last = run.back();
  for (size_t i = run.size(); i-- > 0;) {
    Operation *op = run[i];
    if (isa<ComputeOp>(op) || llvm::any_of(op->getUsers(), isMember))
      continue;
    run.erase(run.begin() + i);
    if (op != last)
      op->moveAfter(last);
  }
}

namespace {
struct FormRows : fovea::attn::impl::FormRowsBase<FormRows> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    SmallVector<ScanOp> scans;
    getOperation().walk([&](ScanOp scan) { scans.push_back(scan); });
    for (ScanOp scan : scans)
      for (RunOfRows &run : runsOfRows(scan.getBody().front())) {
        dropViews(run);
        makeKernel(Schedule::rows, run);
      }
  }
};
} // namespace
