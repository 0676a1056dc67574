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
      says that its machine may round the factors of products.
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

def SplitAdjoints : Pass<"attn-split-adjoints", "ProgramOp"> {
  let summary = "adjoints of attention are computed by queries, then by keys";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which an attention whose factors are rounded
      keeps of its weights the logarithm of the sum of exponentials of each
      query. Sums over the keys and sums over the queries, as its adjoints are,
      have pairs of their own, computed again of products and that logarithm:
      the latter with keys as rows. What the adjoint of a softmax takes off is
      a product of what was read and its adjoint: `sum[u](w[t,u] * dot(d[t], v[u]))
      = dot(d[t], c[t])`.
    * After: `attn-choose-precision`; ahead of `attn-form-strips`, which forms a
      kernel of each, and of `attn-tile-keys`.
    * Not: machines without memory on the chip; products whose factors are as
      they are, which keep the order of the equations; weights or pairs that
      anybody else reads, or that are read twice; sums whose terms the
      weights do not decide; other normalisers; heads of more than 128 numbers.

    Example: the adjoint of values.

    ```mlir
    %w = attn.compute (%t: "T") softmax (%u: "S") { %e[%t, %u] }
    %dv = attn.compute (%u: "S", %k: 64) sum (%t: "T") { %w[%t, %u] * %dc[%t, %k] }

    // becomes

    %w = attn.compute (%t: "T") softmax (%u: "S") { %e[%t, %u] }
    %l = attn.compute (%t: "T") logsumexp (%u: "S") { %e[%t, %u] }
    %f = attn.compute (%u: "S", %t: "T") sum (%k: 64) { .. }
    %x = attn.compute (%u: "S", %t: "T") { exp(%f[%u, %t] - %l[%t]) }
    %dv = attn.compute (%u: "S", %k: 64) sum (%t: "T") { %x[%u, %t] * %dc[%t, %k] }
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
      rows at their own place. Where a machine has memory on its chip, an array
      of pairs that a later kernel reads, as the adjoints of attention read its
      weights, is computed again there, if products and a softmax are all that
      this takes.
    * After: `attn-name-products`, and `attn-order-sums`, which names the terms of
      sums: they are rows like others.
    * Not: groups in which no array of pairs is read by members alone, as all
      would be in memory anyway; rows over a length that varies inside of an
      example; equations in loops; and, of a machine that has strips in memory
      on its chip (`shared_bytes`), products with weights and rows of more than
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

def FormEpilogues : Pass<"attn-form-epilogues", "ProgramOp"> {
  let summary = "equations are computed with the products that they read";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which equations over one index that read
      products with weights at their own place are a kernel in columns with
      these products: the gates of a recurrence and its next state.
    * After: `attn-form-strips`, whose members stay where they are.
    * Not: products that anybody else reads, as their sums have to be in memory;
      equations whose width is no whole number of the machine's vectors
      (`#attn.machine`), or that have no vectors along it.

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

def TileKeys : Pass<"attn-tile-keys", "ProgramOp"> {
  let summary = "attention whose factors are rounded takes some keys at a time";
  let description = [{
    * In: a batched program whose kernels in strips are formed.
    * Out: the same program, in which kernels that are an attention have `keys`:
      so many columns of the pairs are there at a time. These are products of
      rows and keys, and what is computed of each pair by itself; then a softmax
      and one product of its weights with values, and the softmax is put
      together from tiles; or, as in the backward pass, products of pairs with
      values. Conditions of such a product are those of its pairs.
    * After: `attn-form-strips`, and `attn-split-adjoints`.
    * Not: machines without memory on the chip; products whose factors are as
      they are, as a sum has the order of the equation then; pairs that anybody
      else reads; other normalisers; sums over the rows; heads of more than 128
      numbers, or of so many that a tile of keys takes more than 36 KB.

    Example: a head of attention.

    ```mlir
    %c = attn.kernel strips over "T" {
      %e = attn.compute .. {attn.precision = bf16, attn.product = ..}
      %w = attn.compute (%t: "T") softmax (%u: "S") { %e[%t, %u] }
      %own = attn.compute .. {attn.precision = bf16, attn.product = ..}
      attn.yield %own
    }

    // becomes

    %c = attn.kernel strips over "T" keys 64 { .. }
    ```
  }];
}

def FormRows : Pass<"attn-form-rows", "ProgramOp"> {
  let summary = "the equations of a step are computed example by example";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which consecutive equations of a loop's body that
      each example has for itself are a kernel of the schedule `rows`. Views of
      what they give are in it where its equations read them.
    * After: all passes that form other kernels.
    * Not: matrix products, which need the rows of all examples; anything else
      that is launched ends a kernel.

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

def ChooseBlocks : Pass<"attn-choose-blocks", "ProgramOp"> {
  let summary = "how many threads a block of a launch has";
  let description = [{
    * In: a batched program whose work is divided, with the machine that computes
      it.
    * Out: the same program, in which `attn.threads = 32` says of a sum over all
      examples that a block of threads which computes units of it is one warp.
      These sums are few, and long: in smaller blocks more processors have some.
    * After: `attn-divide-work`, and all passes that form kernels.
    * Not: machines that pack products, which have no blocks; products, whose
      blocks are those of tiles; sums in kernels and loops, whose blocks have
      one size. No bit changes: whatever a block has, 16 threads do a unit.

    Example: the gradient of a bias of 64 numbers.

    ```mlir
    %db = attn.compute (%k: 64) sum (%t: "T") { %dy[%t, %k] } {attn.batch = "sum", ..}

    // becomes

    %db = attn.compute .. {attn.batch = "sum", attn.threads = 32, ..}
    ```
  }];
}

def ChooseTiles : Pass<"attn-choose-tiles", "ProgramOp"> {
  let summary = "the size of the tiles in which a product is computed";
  let description = [{
    * In: a batched program whose products are named and whose kernels are
      formed, with the machine that computes it.
    * Out: the same program, in which `attn.tile = "small"` says of a product
      that it is computed in small tiles: its rows do not grow with the lengths
      of examples, and of 64 examples it has fewer than 64 tiles of 64 x 64, so
      that most processors of a device would have nothing to do. `"large"` says
      that it has at least 128 tiles of 128 x 128, which read half as much for
      what they do; `"any"`, that its rows are those of the places of all
      examples, so that the launch knows how many tiles there are. Of a product
      whose factors are rounded `"large"` says that it has 128 columns or more,
      and stands in no loop. Where it reads copies of them, and the machine has
      groups of four warps (`group_columns`), it is `"group"`, tiles of 128 x
      128 by such groups, or `"wide"`, tiles of 128 rows and `group_columns`;
      and `attn.cluster` blocks share what they fetch, of tiles below each
      other.
    * After: all passes that form kernels, which have tiles of their own.
    * Not: machines that pack products, whose tiles are those of the panels;
      products of each example outside of loops. No bit changes: each element
      is one chain of terms in any tile.

    Example: a step of a loop, 64 rows of 512 columns, is 8 tiles of 64 x 64,
    and 64 small ones.

    ```mlir
    %z = attn.compute (%n: 512) sum (%k: 512) { %h[%k] * %u[%n, %k] } {attn.product = ..}

    // becomes

    %z = attn.compute .. {attn.product = .., attn.tile = "small"}
    ```
  }];
}

#endif // FOVEA_PASSES_KERNELS_PASSES_TD
