//===- Passes.td - what a CPU decides ----------------------*- tablegen -*-===//
//
// The passes that the target `#cpu.target` adds to the phase `kernels`.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_CPU_PASSES_TD
#define FOVEA_TARGETS_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def GuardSteps : Pass<"attn-guard-steps", "ProgramOp"> {
  let summary = "a step computes the products that it looks at";
  let description = [{
    * In: a batched program whose products have names.
    * Out: the same program. If all readers of a product look at it under one
      condition, which no index of theirs changes, the product has this
      condition. So do the equations between them. A kernel in columns
      multiplies only the rows for which it holds.
    * After: `attn-name-products`.
    * Before: `attn-form-epilogues`, which forms kernels in columns.
    * Not: products with several rows of an example, which `attn-guard-rows`
      guards; products whose columns are no multiple of a vector, which no
      kernel in columns computes; outputs.

    Example: a layer of an expert in a step of decoding.

    ```mlir
    %y = attn.compute (%n: 64) sum (%k: 32) { %x[%k] * %w[%n, %k] }
    %z = attn.compute (%n: 64) { if %g[3] > 0 { %y[%n] } else { 0 } }

    // becomes

    %y = attn.compute (%n: 64) sum (%k: 32) where { %g[3] > 0 } { %x[%k] * %w[%n, %k] }
    %z = attn.compute (%n: 64) { if %g[3] > 0 { %y[%n] } else { 0 } }
    ```
  }];
}

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
