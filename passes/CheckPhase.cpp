//===- CheckPhase.cpp - the contracts of the phases -----------------------===//
//
// One function per phase of Phases.def. The pass verifies the ops themselves
// first; these functions check only the additional guarantees of a phase.
//
//===----------------------------------------------------------------------===//

#include "dialect/RoundedFactors.h"
#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Orders.h"
#include "passes/fuse/ExposeProducts.h"
#include "passes/kernels/DivideWork.h"
#include "passes/kernels/FormRows.h"
#include "passes/kernels/ShareLoops.h"
#include "passes/memory/CheckMemory.h"
#include "runtime/data/Quantise.h"
#include "llvm/ADT/StringMap.h"
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

/// The reductions of a system or program that are alone with their label, those
/// of loops among them.
static llvm::StringMap<ComputeOp> labelledReductions(Operation *container) {
  llvm::StringMap<ComputeOp> found;
  container->walk([&](ComputeOp op) {
    std::optional<StringRef> label = op.getLabel();
    if (op.getReducer() == Reducer::none || !label || label->empty())
      return;
    if (auto [place, isNew] = found.try_emplace(*label, op); !isNew)
      place->second = nullptr;
  });
  return found;
}

/// The indices that a reduction runs over, with their extents, in its order.
static SmallVector<std::pair<Attribute, Attribute>> termsOf(ComputeOp op) {
  SmallVector<std::pair<Attribute, Attribute>> terms;
  for (unsigned index = op.getNumParallel(); index < op.getNumIndices();
       ++index)
    terms.emplace_back(op.getIndices()[index], op.getExtents()[index]);
  return terms;
}

/// Whether two equations of one label are written in one place and add up the
/// same terms. A step has lost indices of the result, so only those of the sum
/// are compared. Without its dropout a product may be a number, which is not
/// fused.
static bool areOneEquation(ComputeOp a, ComputeOp b) {
  auto hasDropout = [](ComputeOp op) {
    return op.walk([](RandomOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  auto ofA = termsOf(a), ofB = termsOf(b);
  return a.getLoc() == b.getLoc() && a.getReducer() == b.getReducer() &&
         !hasDropout(a) && !hasDropout(b) && !productIn(a) == !productIn(b) &&
         a.getOrderAttr() && b.getOrderAttr() &&
         std::is_permutation(ofA.begin(), ofA.end(), ofB.begin(), ofB.end());
}

/// Whether they do so in one order, with the same roundings.
static bool haveSameOrder(ComputeOp a, ComputeOp b) {
  auto lanesOf = [](ComputeOp op) {
    int64_t lanes = op.getOrderAttr().getLanes();
    return lanes < 0 ? Attribute() : op.getIndices()[lanes];
  };
  return termsOf(a) == termsOf(b) && lanesOf(a) == lanesOf(b) &&
         a.getOrderAttr().getFused() == b.getOrderAttr().getFused() &&
         roundsFactors(a) == roundsFactors(b);
}

/// Equations of one label have the same order in training and decoding, in
/// every phase from `derive` on.
static LogicalResult checkOrders(ModuleOp module, StringRef phase) {
  Operation *loss = module.lookupSymbol("loss");
  if (!loss)
    return success();
  llvm::StringMap<ComputeOp> trained = labelledReductions(loss);
  for (Operation &container : module.getBody()->getOperations()) {
    if (&container == loss || !isa<SystemOp, ProgramOp>(container))
      continue;
    for (auto &[label, op] : labelledReductions(&container)) {
      ComputeOp other = trained.lookup(label);
      if (!op || !other || !areOneEquation(op, other) ||
          haveSameOrder(op, other))
        continue;
      InFlightDiagnostic diag = op.emitOpError()
                                << "has another order than in training after "
                                   "phase '"
                                << phase << "'";
      diag.attachNote(other.getLoc()) << "this is the equation of training";
      return diag;
    }
  }
  return success();
}

/// Every reduction of real numbers below `container` has an order: any of bits
/// gives the same.
static LogicalResult checkOrdered(Operation *container, StringRef phase) {
  WalkResult walk = container->walk([&](ComputeOp op) -> WalkResult {
    if (op.getReducer() == Reducer::none || op.getOrderAttr() ||
        !op.getElementType().isF64())
      return WalkResult::advance();
    return op.emitOpError() << "has no order after phase '" << phase << "'";
  });
  return failure(walk.wasInterrupted());
}

static LogicalResult checkDerive(ModuleOp module) {
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    if (isa<PenaltyOp, EquationOp>(op))
      return op->emitOpError() << "remains after phase 'derive'";
    auto choice = dyn_cast<ChoiceOp>(op);
    if (choice && choice.getObserved())
      return op->emitOpError()
             << "is observed and remains after phase 'derive'";
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (StringRef name : {"training", "decoding"})
    if (Operation *left = module.lookupSymbol(name))
      return left->emitOpError() << "remains after phase 'derive'";
  // The sums of gradients get their orders last.
  for (StringRef name : {"loss", "decode"})
    if (Operation *system = module.lookupSymbol(name);
        system && failed(checkOrdered(system, "derive")))
      return failure();
  Operation *loss = module.lookupSymbol("loss");
  if (!loss)
    return success();
  llvm::StringSet<> outputs = outputsOf(loss);
  for (StringRef name : {"nll", "logp", "choices", "penalty"})
    if (!outputs.contains(name))
      return loss->emitOpError()
             << "has no output '" << name << "' after phase 'derive'";
  return success();
}

static LogicalResult checkDifferentiate(ModuleOp module) {
  WalkResult walk = module.walk([&](StopOp stop) -> WalkResult {
    return stop.emitOpError() << "remains after phase 'differentiate'";
  });
  if (walk.wasInterrupted())
    return failure();
  Operation *loss = module.lookupSymbol("loss");
  Operation *grad = module.lookupSymbol("grad");
  // Without @grad no gradients were requested.
  if (!loss || !grad)
    return success();
  llvm::StringSet<> outputs = outputsOf(grad);
  for (auto param : loss->getRegion(0).getOps<ParamOp>()) {
    std::string wanted =
        "grad/" + fovea::runtime::originalName(param.getPath().str());
    if (!outputs.contains(wanted)) {
      InFlightDiagnostic diag = grad->emitOpError()
                                << "has no output '" << wanted
                                << "' after phase 'differentiate'";
      diag.attachNote(param.getLoc()) << "the loss reads the parameter here";
      return diag;
    }
  }
  return success();
}

/// MLIR's verifier checks that arrays of a program are defined before their
/// uses; it remains to check that there are only programs.
static LogicalResult checkSchedule(ModuleOp module) {
  for (auto system : module.getOps<SystemOp>())
    return system.emitOpError() << "remains after phase 'schedule'";
  return success();
}

static LogicalResult checkBatch(ProgramOp program) {
  if (failed(verifyBatched(program)))
    return failure();
  for (auto output : program.getOps<OutputOp>())
    if (output.getTarget().starts_with("grad/") &&
        isPerExample(output.getValue()))
      return output.emitOpError()
             << "is not a sum over the examples after phase 'batch'";
  return success();
}

/// The passes of this phase also set how a batch stores their arrays.
static LogicalResult checkFuse(ProgramOp program) {
  if (failed(verifyBatched(program)) || failed(checkOrdered(program, "fuse")))
    return failure();
  for (auto op : program.getOps<ComputeOp>())
    if (SmallVector<HiddenRows> hidden = hiddenRows(op); !hidden.empty()) {
      InFlightDiagnostic diag = op.emitOpError()
                                << "is not a matrix product after phase "
                                   "'fuse'";
      diag.attachNote(hidden.front().read.getLoc())
          << "this factor is not a plain read of rows";
      return diag;
    }
  return success();
}

/// Checks that the columns of a kernel are whole vectors of its machine.
static LogicalResult checkColumns(KernelOp kernel) {
  TargetAttr target = TargetAttr::of(kernel);
  for (ComputeOp op : kernel.getMembers()) {
    Attribute extent =
        op.getNumIndices() == 0
            ? Attribute(Builder(op.getContext()).getI64IntegerAttr(1))
            : op.getExtents()[0];
    auto width = dyn_cast<IntegerAttr>(extent);
    if (!width || width.getInt() % target.getLanes() != 0)
      return op.emitOpError()
             << "has " << extentText(extent) << " columns, but a vector of "
             << target.getName() << " " << target.getLanes();
  }
  return success();
}

/// Checks that each launch is one op, and that a kernel yields no internal
/// array.
static LogicalResult checkKernels(ProgramOp program) {
  if (failed(checkBatch(program)))
    return failure();
  auto together = [](Operation *first, Operation *second, StringRef what) {
    InFlightDiagnostic diag = first->emitOpError()
                              << "is launched alone after phase 'kernels'";
    diag.attachNote(second->getLoc()) << what;
    return diag;
  };
  WalkResult walk = program.walk([&](Operation *op) -> WalkResult {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      for (OpResult result : kernel->getResults())
        if (result.use_empty())
          return kernel.emitOpError()
                 << "gives array " << result.getResultNumber()
                 << ", which is unused after phase 'kernels'";
      if (kernel.getSchedule() == Schedule::columns &&
          failed(checkColumns(kernel)))
        return failure();
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted() || failed(verifyUnits(program)))
    return failure();
  for (Block *block : blocksOfRows(program))
    for (const RunOfRows &run : runsOfRows(*block))
      return together(run[0], run[1], "and this equation of the same step");
  for (Block *block : blocksOfLoops(program))
    for (auto op : block->getOps<ComputeOp>())
      if (SmallVector<ComputeOp> sums = sharingLoop(op); sums.size() > 1)
        return together(op, sums[1], "and this sum of the same functions");
  return success();
}

namespace {

struct CheckPhase : fovea::attn::impl::CheckPhaseBase<CheckPhase> {
  using CheckPhaseBase::CheckPhaseBase;

  /// Checks a program, or each one of a module.
  LogicalResult checkPrograms(LogicalResult (*check)(ProgramOp)) {
    if (auto program = dyn_cast<ProgramOp>(getOperation()))
      return check(program);
    for (auto program : cast<ModuleOp>(getOperation()).getOps<ProgramOp>())
      if (failed(check(program)))
        return failure();
    return success();
  }

  LogicalResult check() {
    if (auto module = dyn_cast<ModuleOp>(getOperation());
        module && failed(checkOrders(module, phaseName(phase))))
      return failure();
    switch (phase) {
    case Phase::derive:
      return checkDerive(cast<ModuleOp>(getOperation()));
    case Phase::differentiate:
      return checkDifferentiate(cast<ModuleOp>(getOperation()));
    case Phase::schedule:
      return checkSchedule(cast<ModuleOp>(getOperation()));
    case Phase::batch:
      return checkPrograms(checkBatch);
    case Phase::fuse:
      return checkPrograms(checkFuse);
    case Phase::kernels:
      return checkPrograms(checkKernels);
    case Phase::memory:
      return checkPrograms(verifyPlaced);
    }
    llvm_unreachable("every phase has a contract");
  }

  /// A contract from the phase `batch` on is a contract of each program.
  bool canScheduleOn(RegisteredOperationName name) const override {
    StringRef own = name.getStringRef();
    return own == ModuleOp::getOperationName() ||
           (own == ProgramOp::getOperationName() && phase >= Phase::batch);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verify(getOperation())) || failed(check()))
      signalPassFailure();
  }
};

} // namespace
