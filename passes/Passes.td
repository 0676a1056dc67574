//===- Passes.td - every pass of the compiler --------------*- tablegen -*-===//
//
// Those of a phase stand in its folder, in the order of passes/Pipeline.cpp. A
// description answers, in this order: what goes in, what comes out, what must
// have run before, one example.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_PASSES_TD
#define FOVEA_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"
include "passes/derive/Passes.td"
include "passes/differentiate/Passes.td"
include "passes/schedule/Passes.td"
include "passes/batch/Passes.td"
include "passes/fuse/Passes.td"
include "passes/kernels/Passes.td"
include "passes/memory/Passes.td"

//===----------------------------------------------------------------------===//
// Between other passes
//===----------------------------------------------------------------------===//

def RunTargetPasses : Pass<"attn-run-target-passes", "ProgramOp"> {
  let summary = "run the passes of the program's target";
  let description = [{
    * In: a batched program with its target (`attn.target`; dialect/Target.td).
    * Out: the same program, after the passes that the target adds at `stage`:
      before and after equations form kernels in strips and columns, after all
      kernels are formed, and after arrays have locations.
    * After: the passes of the phase before that stage (passes/Pipeline.cpp).
    * Not: the passes that `leave-out` names; any pass, if the target adds none
      at this stage, as a CPU.

    Example: a sum over the examples of a batch, for `#nvidia.target`.

    ```mlir
    %db = attn.compute (%k: 64) sum (%t: "T") { %dy[%t, %k] } {attn.batch = "sum", ..}

    // becomes, at the stage `after-kernels`

    %db = attn.compute .. {attn.batch = "sum", attn.config = #nvidia.block<32>, ..}
    ```
  }];
  let options = [
    Option<"stage", "stage", "Stage", /*default=*/"Stage::beforeStrips",
           "where in the pipeline it runs", [{::fovea::attn::stageValues()}]>,
    ListOption<"leaveOut", "leave-out", "std::string", "passes that do not run">
  ];
}

//===----------------------------------------------------------------------===//
// After each phase
//===----------------------------------------------------------------------===//

def CheckPhase : Pass<"attn-check-phase"> {
  let summary = "verify what a phase promises";
  let description = [{
    * In, out: the module after a phase, or from `batch` on one of its programs,
      unchanged.
    * A broken promise is a mistake of the compiler; the error names the phase,
      so that it is found where it was made and not three passes later.

    What each phase promises stands in passes/Phases.def.
  }];
  let options = [
    Option<"phase", "phase", "Phase", /*default=*/"Phase()",
           "the phase that has just run", [{::fovea::attn::phaseValues()}]>
  ];
}

#endif // FOVEA_PASSES_PASSES_TD
