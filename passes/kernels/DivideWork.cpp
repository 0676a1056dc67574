//===- DivideWork.cpp - the work of a launch that may be done apart -------===//
//
// What every op that is launched consists of: examples, rows of all examples,
// parts of what a batch has once, or one piece of work. It follows from the
// equation alone, never from the machine or from the number of threads.
//
//===----------------------------------------------------------------------===//

#include "passes/kernels/DivideWork.h"
#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/batch/Batch.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_DIVIDEWORK
#include "passes/Passes.h.inc"
} // namespace fovea::attn

static constexpr StringLiteral unitsName = "attn.units";

bool fovea::attn::hasUnits(Operation &op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return kernel.getSchedule() == Schedule::loop ||
           kernel.getSchedule() == Schedule::rows;
  auto compute = dyn_cast<ComputeOp>(op);
  return compute ? !productOf(compute) : isa<ConcatOp, AppendOp>(op);
}

std::optional<Units> fovea::attn::unitsOf(Operation *op) {
  if (auto units = op->getAttrOfType<UnitsAttr>(unitsName))
    return units.getValue();
  return std::nullopt;
}

/// Of an equation that a batch has once.
static Units unitsOfBatch(ComputeOp op) {
  // The sum adds its terms where they belong: only columns are apart.
  if (op.getNumParallel() == 1 || scatteredBy(op))
    return Units::ranges;
  return op.getNumParallel() == 0 ? Units::once : Units::places;
}

/// Of an equation that each example has, outside of loops.
static Units unitsOfExamples(ComputeOp op, ProgramOp program) {
  // Elements along the only index are neighbours, and stay together.
  if (op.getNumParallel() == 0 ||
      (op.getNumParallel() == 1 && !op.isNormaliser()) || scatteredBy(op))
    return Units::examples;
  Attribute first = op.getExtents()[0];
  bool isLong = isa<StringAttr>(first) && !variesInside(first, program);
  return isLong ? Units::rows : Units::examples;
}

namespace {
struct DivideWork : fovea::attn::impl::DivideWorkBase<DivideWork> {
  Units unitsFor(Operation &op, bool isInLoop) {
    auto compute = dyn_cast<ComputeOp>(op);
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      SmallVector<ComputeOp> members = kernel.getMembers();
      if (members.empty())
        return Units::once;
      // Sums of one loop have the same indices.
      compute = members.front();
    }
    BatchKind kind = batchOf(compute ? compute : &op);
    if (kind != BatchKind::each)
      return compute ? unitsOfBatch(compute) : Units::once;
    return compute && !isInLoop ? unitsOfExamples(compute, getOperation())
                                : Units::examples;
  }

  void divide(Block &block) {
    bool isInLoop = isa<ScanOp>(block.getParentOp());
    for (Operation &op : block)
      if (hasUnits(op))
        op.setAttr(unitsName,
                   UnitsAttr::get(&getContext(), unitsFor(op, isInLoop)));
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    divide(getOperation().getBody().front());
    getOperation().walk([&](ScanOp scan) { divide(scan.getBody().front()); });
  }
};
} // namespace
