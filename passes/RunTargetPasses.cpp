//===- RunTargetPasses.cpp - the passes of a program's target -------------===//
//
// The target is an attribute of the program, so its passes are known only when
// the program is. MLIR runs them as a pipeline inside this pass, with the same
// flags for dumps and timing.
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_RUNTARGETPASSES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

namespace {
struct RunTargetPasses
    : fovea::attn::impl::RunTargetPassesBase<RunTargetPasses> {
  using RunTargetPassesBase::RunTargetPassesBase;

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    OpPassManager passes(ProgramOp::getOperationName());
    TargetAttr::of(getOperation())
        .addPasses(stage, [&](std::unique_ptr<Pass> pass) {
          if (!llvm::is_contained(leaveOut, pass->getArgument()))
            passes.addPass(std::move(pass));
        });
    if (passes.size() != 0 && failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};
} // namespace
