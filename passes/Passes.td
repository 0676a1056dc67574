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
