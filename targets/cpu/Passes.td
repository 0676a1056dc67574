//===- Passes.td - what a CPU decides ----------------------*- tablegen -*-===//
//
// The passes that the target `#cpu.target` adds to the phase `kernels`.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_CPU_PASSES_TD
#define FOVEA_TARGETS_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LeaveRows : Pass<"attn-leave-rows", "ProgramOp"> {
  let summary = "rows that nobody looks at are not written";
  let description = [{
    * In: a batched program whose kernels are formed.
    * Out: the same program, in which equations are `partial` if their readers
      look at them only where the condition of the equation holds. What is
      elsewhere is neither computed nor set to zero.
    * After: `attn-guard-rows`, which gives layers such conditions, and all that
      changes readers.
    * Not: conditions that choose rows of no product; equations in loops and in
      kernels; outputs; arrays that a product reads whose rows the condition does
      not choose, as it multiplies all rows.

    Example: a layer of an expert, and its activation.

    ```mlir
    %y = attn.compute (%t: "T", %n: 64) sum (%k: 32) where { %g[%t] > 0 } { %x[%t, %k] * %w[%n, %k] }
    %z = attn.compute (%t: "T", %n: 64) where { %g[%t] > 0 } { tanh(%y[%t, %n]) }

    // becomes

    %y = attn.compute .. where { %g[%t] > 0 } { .. } {partial}
    %z = attn.compute .. where { %g[%t] > 0 } { .. }
    ```
  }];
}

#endif // FOVEA_TARGETS_CPU_PASSES_TD
