//===- DivideWork.cpp - the work of a launch that may be done apart -------===//
//
// Determines the work units of every launched op: examples, rows of all
// examples, parts of a batch-wide array, or a single unit. Depends only on the
// equation, never on the machine or the number of threads.
//
//===----------------------------------------------------------------------===//

#include "passes/kernels/DivideWork.h"
#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/Members.h"

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
           kernel.getSchedule() == Schedule::rows ||
           kernel.getSchedule() == Schedule::places;
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
  // The sum adds its terms at computed places: only columns are independent.
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

Units fovea::attn::unitsFor(Operation &op) {
  Operation *first = &op;
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    if (kernel.getSchedule() == Schedule::places)
      return Units::rows;
    SmallVector<Operation *> members = launchedIn(kernel);
    if (members.empty())
      return Units::once;
    // All members have the same units.
    first = members.front();
  }
  auto compute = dyn_cast<ComputeOp>(first);
  if (batchOf(first) != BatchKind::each)
    return compute ? unitsOfBatch(compute) : Units::once;
  auto program = dyn_cast<ProgramOp>(op.getParentOp());
  return compute && program ? unitsOfExamples(compute, program)
                            : Units::examples;
}

/// Calls `visit` with every op that has units.
static void forEachLaunch(ProgramOp program,
                          llvm::function_ref<void(Operation &)> visit) {
  auto visitAll = [&](Block &block) {
    for (Operation &op : block)
      if (hasUnits(op))
        visit(op);
  };
  visitAll(program.getBody().front());
  program.walk([&](ScanOp scan) { visitAll(scan.getBody().front()); });
}

LogicalResult fovea::attn::verifyUnits(ProgramOp program) {
  bool isGood = true;
  forEachLaunch(program, [&](Operation &op) {
    if (!isGood)
      return;
    std::optional<Units> units = unitsOf(&op);
    Units expected = unitsFor(op);
    isGood = units == expected;
    if (!units)
      op.emitOpError() << "does not define its units after phase 'kernels'";
    else if (!isGood)
      op.emitOpError() << "has the units '" << stringifyUnits(*units)
                       << "', but its work divides into '"
                       << stringifyUnits(expected) << "'";
  });
  return success(isGood);
}

namespace {
struct DivideWork : fovea::attn::impl::DivideWorkBase<DivideWork> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (failed(verifyBatched(program)))
      return signalPassFailure();
    forEachLaunch(program, [&](Operation &op) {
      op.setAttr(unitsName, UnitsAttr::get(&getContext(), unitsFor(op)));
    });
  }
};
} // namespace
