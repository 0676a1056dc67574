//===- FormRows.cpp - equations of a step, example by example -------------===//
//
// Consecutive equations of an example become one kernel in a loop, and in a
// program that runs repeatedly as a step of a search. The row of an example
// stays in the nearest cache from one to the next, and they need one launch. A
// matrix product needs its complete input, so it separates two such kernels.
//
//===----------------------------------------------------------------------===//

#include "passes/kernels/FormRows.h"
#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/DivideWork.h"
#include "passes/kernels/Members.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FORMROWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// A kernel is one function: LLVM needs more than twice the time for one twice
/// as long.
static constexpr int64_t mostMembers = 64;

/// Whether each example has an op for itself, as one unit of work: outside of
/// loops, threads may share the rows of an example.
static bool isByRows(Operation &op) {
  return hasUnits(op) && !isa<KernelOp>(op) &&
         batchOf(&op) == BatchKind::each && unitsFor(op) == Units::examples;
}

static bool usesAny(Operation &op, const RunOfRows &run) {
  return llvm::any_of(op.getOperands(), [&](Value operand) {
    return llvm::is_contained(run, operand.getDefiningOp());
  });
}

SmallVector<RunOfRows> fovea::attn::runsOfRows(Block &body) {
  SmallVector<RunOfRows> runs;
  RunOfRows run;
  int64_t members = 0;
  auto close = [&] {
    if (members > 1)
      runs.push_back(run);
    run.clear();
    members = 0;
  };
  for (Operation &op : body) {
    bool isMember = isByRows(op);
    if (isMember && members == mostMembers)
      close();
    members += isMember;
    if (isMember || (isa<ReshapeOp>(op) && usesAny(op, run)))
      run.push_back(&op);
    else if (isLaunched(op) || usesAny(op, run))
      close();
  }
  close();
  return runs;
}

SmallVector<Block *> fovea::attn::blocksOfRows(ProgramOp program) {
  SmallVector<Block *> blocks;
  if (program->hasAttr(preparesName))
    blocks.push_back(&program.getBody().front());
  program.walk([&](ScanOp scan) { blocks.push_back(&scan.getBody().front()); });
  return blocks;
}

namespace {
struct FormRows : fovea::attn::impl::FormRowsBase<FormRows> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (Block *block : blocksOfRows(getOperation()))
      for (RunOfRows &run : runsOfRows(*block)) {
        dropViews(run);
        makeKernel(Schedule::rows, run);
      }
  }
};
} // namespace
