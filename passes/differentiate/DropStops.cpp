//===- DropStops.cpp - takes out what only differentiation asks -----------===//
//
// After differentiation `attn.stop` has no effect. If an equation consisted of
// it, a useless copy remains.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_DROPSTOPS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {
struct DropStops : fovea::attn::impl::DropStopsBase<DropStops> {
  void runOnOperation() override {
    for (auto system : getOperation().getOps<SystemOp>())
      dropSurrogates(system);
    llvm::SetVector<Operation *> changed;
    getOperation().walk([&](StopOp stop) {
      changed.insert(stop->getParentOfType<ComputeOp>());
      stop.getResult().replaceAllUsesWith(stop.getOperand());
      stop.erase();
    });
    for (Operation *op : changed) {
      auto compute = cast<ComputeOp>(op);
      Value source = copiedBy(compute);
      if (!source || source == compute.getResult() || compute.getLabel())
        continue;
      compute.getResult().replaceAllUsesWith(source);
      compute.erase();
    }
  }

  /// Arrays that only have a gradient, or belong to an update, are not results.
  void dropSurrogates(SystemOp system) {
    bool isDropped = false;
    for (auto output : llvm::make_early_inc_range(system.getOps<OutputOp>())) {
      if (!output.getTarget().starts_with("surrogate.") &&
          !output.getTarget().starts_with("estimate."))
        continue;
      output.erase();
      isDropped = true;
    }
    if (isDropped)
      eraseDeadArrays(system);
  }
};
} // namespace
