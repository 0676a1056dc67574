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

def ListRows : Pass<"attn-list-rows", "ProgramOp"> {
  let summary = "gradients of embeddings list the rows that a batch reads";
  let description = [{
    * In: a batched program, whose equations are final.
    * Out: if the program has the attribute `attn.lists_rows`, a gradient whose
      terms choose their rows becomes several outputs: its parts, which are
      `partial`, and the number of terms of each of their rows
      (runtime/train/RowNames.h). The caller adds the parts of a row in their
      order, as the equation did that added all rows.
    * After: all that forms sums, and `attn-order-sums`.
    * Before: `attn-divide-work`, which divides the new equations, too.
    * Not: gradients with another part, such as those of weights that a matrix
      product multiplies or that a penalty reads.

    Example: an embedding.

    ```mlir
    %g = attn.compute (%w: 30000, %k: 64) sum (%t: "T") where { %word[%t] == %w } { %d[%t, %k] }
    attn.output "grad/emb.weight" %g

    // becomes

    %n = attn.compute (%w: 30000) sum (%t: "T") where { %word[%t] == %w } { 1 }
    %g = attn.compute (%w: 30000, %k: 64) sum (%t: "T") where { %word[%t] == %w } { %d[%t, %k] } {partial}
    attn.output "part.0/emb.weight" %g
    attn.output "terms.0/emb.weight" %n
    ```
  }];
}

#endif // FOVEA_TARGETS_CPU_PASSES_TD
