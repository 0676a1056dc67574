//===- CheckPhase.cpp - the contracts of the phases -----------------------===//
//
// One function per phase of Phases.def. The ops themselves are verified by MLIR
// after every pass; here is only what a phase adds to that.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/batch/Batch.h"
#include "passes/fuse/ExposeProducts.h"
#include "passes/kernels/DivideWork.h"
#include "passes/kernels/FormRows.h"
#include "passes/kernels/ShareLoops.h"
#include "passes/memory/CheckMemory.h"
#include "llvm/ADT/StringSet.h"

namespace fovea::attn {
#define GEN_PASS_DEF_CHECKPHASE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// The names of the outputs of a system or program.
static llvm::StringSet<> outputsOf(Operation *container) {
  llvm::StringSet<> names;
  for (auto output : container->getRegion(0).getOps<OutputOp>())
    names.insert(output.getTarget());
  return names;
}

static LogicalResult checkDerive(ModuleOp module) {
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    if (isa<PenaltyOp, EquationOp>(op))
      return op->emitOpError() << "is left after the phase 'derive'";
    auto choice = dyn_cast<ChoiceOp>(op);
    if (choice && choice.getObserved())
      return op->emitOpError()
             << "is observed and left after the phase 'derive'";
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (StringRef name : {"training", "decoding"})
    if (Operation *left = module.lookupSymbol(name))
      return left->emitOpError() << "is left after the phase 'derive'";
  Operation *loss = module.lookupSymbol("loss");
  if (!loss)
    return success();
  llvm::StringSet<> outputs = outputsOf(loss);
  for (StringRef name : {"nll", "logp", "choices", "penalty"})
    if (!outputs.contains(name))
      return loss->emitOpError()
             << "has no output '" << name << "' after the phase 'derive'";
  return success();
}

static LogicalResult checkDifferentiate(ModuleOp module) {
  WalkResult walk = module.walk([&](StopOp stop) -> WalkResult {
    return stop.emitOpError() << "is left after the phase 'differentiate'";
  });
  if (walk.wasInterrupted())
    return failure();
  Operation *loss = module.lookupSymbol("loss");
  Operation *grad = module.lookupSymbol("grad");
  // Without @grad nobody asked for gradients.
  if (!loss || !grad)
    return success();
  llvm::StringSet<> outputs = outputsOf(grad);
  for (auto param : loss->getRegion(0).getOps<ParamOp>())
    if (!outputs.contains(("grad/" + param.getPath()).str())) {
      InFlightDiagnostic diag = grad->emitOpError()
                                << "has no output 'grad/" << param.getPath()
                                << "' after the phase 'differentiate'";
      diag.attachNote(param.getLoc()) << "the loss reads the parameter here";
      return diag;
    }
  return success();
}

/// In a program the verifier of MLIR sees that every array stands before its
/// readers: what is left to check is that there are programs only.
static LogicalResult checkSchedule(ModuleOp module) {
  for (auto system : module.getOps<SystemOp>())
    return system.emitOpError() << "is left after the phase 'schedule'";
  return success();
}

static LogicalResult checkBatch(ModuleOp module) {
  if (failed(verifyBatched(module)))
    return failure();
  for (auto program : module.getOps<ProgramOp>())
    for (auto output : program.getOps<OutputOp>())
      if (output.getTarget().starts_with("grad/") &&
          isPerExample(output.getValue()))
        return output.emitOpError()
               << "is no sum over the examples after the phase 'batch'";
  return success();
}

/// What the passes of the phase make says how a batch has it, too.
static LogicalResult checkFuse(ModuleOp module) {
  if (failed(verifyBatched(module)))
    return failure();
  for (auto program : module.getOps<ProgramOp>())
    for (auto op : program.getOps<ComputeOp>())
      if (SmallVector<HiddenRows> hidden = hiddenRows(op); !hidden.empty()) {
        InFlightDiagnostic diag = op.emitOpError()
                                  << "is no matrix product after the phase "
                                     "'fuse'";
        diag.attachNote(hidden.front().read.getLoc())
            << "this factor is no plain read of rows";
        return diag;
      }
  return success();
}

/// That the columns of a kernel are whole vectors of its machine.
static LogicalResult checkColumns(KernelOp kernel) {
  MachineAttr machine = MachineAttr::of(kernel);
  for (ComputeOp op : kernel.getMembers()) {
    Attribute extent =
        op.getNumIndices() == 0
            ? Attribute(Builder(op.getContext()).getI64IntegerAttr(1))
            : op.getExtents()[0];
    auto width = dyn_cast<IntegerAttr>(extent);
    if (!width || width.getInt() % machine.getLanes() != 0)
      return op.emitOpError()
             << "has " << extentText(extent) << " columns, but a vector of "
             << machine.getName() << " " << machine.getLanes();
  }
  return success();
}

/// Each launch is one op, and what a kernel keeps to itself is not given.
static LogicalResult checkKernels(ModuleOp module) {
  if (failed(checkBatch(module)))
    return failure();
  auto together = [](Operation *first, Operation *second, StringRef what) {
    InFlightDiagnostic diag = first->emitOpError()
                              << "is launched alone after the phase 'kernels'";
    diag.attachNote(second->getLoc()) << what;
    return diag;
  };
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      for (OpResult result : kernel->getResults())
        if (result.use_empty())
          return kernel.emitOpError()
                 << "gives array " << result.getResultNumber()
                 << ", which nobody reads after the phase 'kernels'";
      if (kernel.getSchedule() == Schedule::columns &&
          failed(checkColumns(kernel)))
        return failure();
    }
    if (isa_and_present<ProgramOp, ScanOp>(op->getParentOp()) &&
        hasUnits(*op) && !unitsOf(op))
      return op->emitOpError()
             << "does not say what its units are after the phase 'kernels'";
    if (auto scan = dyn_cast<ScanOp>(op))
      for (const RunOfRows &run : runsOfRows(scan.getBody().front()))
        return together(run[0], run[1], "and this equation of the same step");
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto program : module.getOps<ProgramOp>())
    for (Block *block : blocksOfLoops(program))
      for (auto op : block->getOps<ComputeOp>())
        if (SmallVector<ComputeOp> sums = sharingLoop(op); sums.size() > 1)
          return together(op, sums[1], "and this sum of the same functions");
  return success();
}

static LogicalResult checkMemory(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    if (failed(verifyPlaced(program)))
      return failure();
  return success();
}

namespace {

struct CheckPhase : fovea::attn::impl::CheckPhaseBase<CheckPhase> {
  using CheckPhaseBase::CheckPhaseBase;

  LogicalResult check() {
    switch (phase) {
    case Phase::derive:
      return checkDerive(getOperation());
    case Phase::differentiate:
      return checkDifferentiate(getOperation());
    case Phase::schedule:
      return checkSchedule(getOperation());
    case Phase::batch:
      return checkBatch(getOperation());
    case Phase::fuse:
      return checkFuse(getOperation());
    case Phase::kernels:
      return checkKernels(getOperation());
    case Phase::memory:
      return checkMemory(getOperation());
    }
    llvm_unreachable("every phase has a contract");
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(check()))
      signalPassFailure();
  }
};

} // namespace
