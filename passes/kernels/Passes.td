//===- Passes.td - what is computed together ---------------*- tablegen -*-===//
//
// The passes of the phase `kernels`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_KERNELS_PASSES_TD
#define FOVEA_PASSES_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChoosePrecision : Pass<"attn-choose-precision", "ProgramOp"> {
  let summary = "the factors of large matrix products are rounded";
  let description = [{
    * In: a batched program whose products are named. `attn.precision = bf16`
      says that the factors of products may be rounded.
    * Out: the same program, in which the products that are rounded say so by
      `attn.precision = bf16`: both factors to bf16, to the nearest and of two
      to the even one, products and sums in f32.
    * After: `attn-name-products`, and ahead of what forms kernels of products.
    * Not: programs that do not say it; sums that are no products; products with
      less than an instruction multiplies at once (16 terms, 8 columns, and 8
      rows where they are no rows of examples), as far as that is a number.
      Nothing depends on the batch.

    Example:

    ```mlir
    %h = attn.compute (%i: "S", %n: 64) sum (%k: 32) { %x[%i, %k] * %w[%n, %k] } {attn.product = ..}

    // becomes

    %h = attn.compute .. {attn.precision = bf16, attn.product = ..}
    ```
  }];
}

def FormStrips : Pass<"attn-form-strips", "ProgramOp"> {
  let summary = "equations over the same rows are computed strip by strip";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which the scores of attention, their softmax,
      what is read with it and the adjoints of all that are a kernel in strips:
      equations after a product that gives an array of pairs (rows and keys), a
      score with a softmax, or a product with weights, as far as they read its
      rows at their own place. If the target has memory on the chip, an array
      of pairs that a later kernel reads, as the adjoints of attention read its
      weights, is computed again there, if products and a softmax are all that
      this takes.
    * After: `attn-name-products`, and `attn-order-sums`, which names the terms of
      sums: they are rows like others.
    * Not: groups in which no array of pairs is read by members alone, as all
      would be in memory anyway; rows over a length that varies inside of an
      example; equations in loops; and, of a target that has strips in memory
      on the chip (`shared_bytes`), products with weights and rows of more than
      128 numbers, which are too long for that, and groups in which no array of
      pairs has a column for each place of a length.

    Example: attention, of which only `%c` is in memory.

    ```mlir
    %e = attn.compute (%t: "T", %u: "S") sum (%k: 64) { %q[%t, %k] * %key[%u, %k] } {attn.product = ..}
    %w = attn.compute (%t: "T") softmax (%u: "S") { %e[%t, %u] }
    %c = attn.compute (%t: "T", %k: 64) sum (%u: "S") { %w[%t, %u] * %value[%u, %k] } {attn.product = ..}

    // becomes

    %c = attn.kernel strips over "T" {
      %e = attn.compute .. {attn.shared = array<i64: 0>}
      %w = attn.compute .. {attn.shared = array<i64: 0>}
      %own = attn.compute .. {attn.shared = array<i64: 0>}
      attn.yield %own
    }
    ```
  }];
}

def WidenFactors : Pass<"attn-widen-factors", "ProgramOp"> {
  let summary = "matrix products read rows of f32";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program. Kernels in strips pack right sides of bf16, and
      widen left sides of at most 512 terms, where the target packs factors. An
      array of bf16 that another product reads has elements of f64 again:
      kernels of products read whole rows in memory. If programs of a search
      exchange it, it keeps two bytes per element, and the products read a copy.
    * After: `attn-store-rows`, `attn-form-strips`.
    * Not: products without a name, such as the scores of a decoding step.

    ```mlir
    %k = attn.data "carry/0" : !attn.array<["S", 64], bf16>
    %e = attn.compute (%t: "T", %i: "S") sum (%n: 64) { %q[%t, %n] * %k[%i, %n] } {attn.product = ..}

    // becomes

    %wide = attn.compute (%i: "S", %n: 64) { %k[%i, %n] } : !attn.array<["S", 64], f64>
    %e = attn.compute (%t: "T", %i: "S") sum (%n: 64) { %q[%t, %n] * %wide[%i, %n] } {attn.product = ..}
    ```
  }];
}

def FormEpilogues : Pass<"attn-form-epilogues", "ProgramOp"> {
  let summary = "equations are computed with the products that they read";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which equations over one index that read
      products with weights at their own place are a kernel in columns with
      these products: the gates of a recurrence and its next state.
    * After: `attn-form-strips`, whose members stay where they are.
    * Not: products that anybody else reads, as their sums have to be in memory;
      equations whose width is no whole number of the target's vectors
      (`#cpu.target`), or that have no vectors along it.

    Example: a layer and its activation, in a loop.

    ```mlir
    %z = attn.compute (%n: 64) sum (%k: 64) { %before[%k] * %w[%n, %k] } {attn.product = ..}
    %h = attn.compute (%n: 64) { tanh(%z[%n]) }

    // becomes

    %h = attn.kernel columns {
      %z = attn.compute ..
      %own = attn.compute ..
      attn.yield %own
    }
    ```
  }];
}

def ShareLoops : Pass<"attn-share-loops", "ProgramOp"> {
  let summary = "sums that evaluate the same function are one loop";
  let description = [{
    * In: a batched program.
    * Out: the same program, in which consecutive sums over the same indices that
      evaluate a costly function (tanh, exp, ..) at the same places are a kernel
      of the schedule `loop`, which evaluates it once. In a kernel in strips they
      are such a kernel inside of it.
    * After: `attn-join-sums`, which brings sums together, and `attn-form-strips`.
    * Not: sums in loops of the program, sums of which one reads the other, sums
      under different conditions or with vectors along different indices, and
      those of which a kernel in strips has only a strip.

    Example: the adjoints of `k` and `v` in `v[a] * tanh(q[t,a] + k[i,a])`.

    ```mlir
    %dk = attn.compute (%i: "S", %a: 8) sum (%t: "T") { %g[%t, %i] * %v[%a] * (1 - tanh(..)^2) }
    %0 = attn.compute (%i: "S", %a: 8) sum (%t: "T") { %g[%t, %i] * tanh(..) }

    // becomes

    %dk, %0 = attn.kernel loop {
      %own = attn.compute ..
      %other = attn.compute ..
      attn.yield %own, %other
    }
    ```
  }];
}

def FormRows : Pass<"attn-form-rows", "ProgramOp"> {
  let summary = "the equations of a step are computed example by example";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which consecutive equations that each example has
      for itself are a kernel of the schedule `rows`, in loops and in programs
      with `attn.prepares`, such as the steps of a search. Arrays that are joined,
      rows that are appended, and views of what is in it are in it, too.
    * After: all passes that form other kernels.
    * Not: matrix products, which need the rows of all examples, and outside of
      loops equations whose rows the threads share; anything else that is
      launched ends a kernel, and so does the 64th member, as LLVM's time grows
      faster than a function does.

    Example: an attention that a state reads, in a loop over `t`.

    ```mlir
    %w = attn.compute () softmax (%u: "S") { %e[%u] }
    %c = attn.compute (%k: 64) sum (%u: "S") { %w[%u] * %value[%u, %k] }

    // becomes

    %c = attn.kernel rows {
      %w = attn.compute ..
      %own = attn.compute ..
      attn.yield %own
    }
    ```
  }];
}

def DivideWork : Pass<"attn-divide-work", "ProgramOp"> {
  let summary = "the work of each launch that may be done apart";
  let description = [{
    * In: a batched program whose kernels are formed.
    * Out: the same program, in which every op that is launched says by
      `attn.units` what its units of work are: examples, rows of all examples,
      places or ranges of what the batch has once, or one.
    * After: all passes that form kernels.
    * Not: matrix products and kernels with products, whose units are tiles;
      loops, whose ops are launched in each step. An equation over one index
      stays whole, as its elements are neighbours, and so does a sum that adds
      its terms where a condition finds their places.

    Example: rows are shared among the threads, whichever example they are of.

    ```mlir
    %y = attn.compute (%t: "T", %k: 64) { tanh(%x[%t, %k]) } {attn.batch = "each"}

    // becomes

    %y = attn.compute (%t: "T", %k: 64) { tanh(%x[%t, %k]) }
      {attn.batch = "each", attn.units = #attn.units<rows>}
    ```
  }];
}

#endif // FOVEA_PASSES_KERNELS_PASSES_TD
