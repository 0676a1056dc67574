//===- Passes.td - what a GPU of NVIDIA decides ------------*- tablegen -*-===//
//
// The passes that the target `#nvidia.target` adds to the phases `kernels` and
// `memory`, in that order.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_PASSES_TD
#define FOVEA_TARGETS_NVIDIA_PASSES_TD

include "mlir/Pass/PassBase.td"

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
    * Not: other targets; products whose factors are not rounded, which keep the order of the equations; weights or pairs that
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

def TileKeys : Pass<"attn-tile-keys", "ProgramOp"> {
  let summary = "attention whose factors are rounded takes some keys at a time";
  let description = [{
    * In: a batched program whose kernels in strips are formed.
    * Out: the same program, in which kernels that are an attention have `keys`:
      so many columns of the pairs are there at a time. These are products of
      rows and keys, and what is computed of each pair by itself; then a softmax
      and one product of its weights with values, and the softmax is put
      together from tiles; or, as in the backward pass, products of pairs with
      values. Conditions of such a product are those of its pairs. A division by
      a constant, as by the root of the head's size, is a product with its
      reciprocal there.
    * Out: where warp groups attend, `#nvidia.groups` also says how: how many
      tiles of keys are on the chip, and whether products of the next tile start
      early. Blocks then read copies of rows and keys in bf16. This needs heads
      of at least 32 numbers, and room for two tiles of keys.
    * After: `attn-form-strips`, and `attn-split-adjoints`.
    * Not: other targets; products whose factors are not rounded, as a sum has the order of the equation then; pairs that anybody
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

def FormPlaces : Pass<"attn-form-places", "ProgramOp"> {
  let summary = "equations of many rows are computed row by row";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which equations outside of loops that have the
      same rows, and read each other at their own row alone, are one kernel in
      places. A launch costs as much as a small equation, and the equations of a
      layer norm are seven. Sums over all examples that read these rows, as
      gradients do, move after the kernel.
    * After: `attn-form-strips` and `attn-tile-keys`, which save memory; ahead of
      `attn-divide-work`.
    * Not: other targets; products; sums that the threads of a group do not
      share; rows of more than 4,096 numbers, since all rows of a kernel are in
      memory at the same time; rows of one example that have lengths of their own; a step of a
      search, whose kernels `attn-form-rows` forms. Equations that read nothing in
      common are not put together, and no kernel has more than 32. No bit changes.

    Example: each row is divided by its mean.

    ```mlir
    %m = attn.compute (%t: "T") mean (%k: 64) { %x[%t, %k] }
    %y = attn.compute (%t: "T", %k: 64) { %x[%t, %k] / %m[%t] }

    // becomes

    %y = attn.kernel places over "T" {
      %m = attn.compute (%t: "T") mean (%k: 64) { %x[%t, %k] }
      %own = attn.compute (%t: "T", %k: 64) { %x[%t, %k] / %m[%t] }
      attn.yield %own
    }
    ```
  }];
}

def FormSums : Pass<"attn-form-sums", "ProgramOp"> {
  let summary = "sums over all examples share a launch";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which sums over the same indices of all examples
      are one kernel `loop`, if no product or attention is between them. So what
      they read hardly lives longer. A kernel has at most eight sums.
    * After: `attn-form-places`, which moves such sums together; ahead of
      `attn-divide-work`.
    * Not: other targets; products and scatters; sums with a condition, of long
      rows, or whose vectors are along different indices. No bit changes: each sum keeps its
      order.

    Example: gradients of the bias and the scale of a layer norm.

    ```mlir
    %db = attn.compute (%k: 64) sum (%t: "T") { %d[%t, %k] } {attn.batch = "sum"}
    %dw = attn.compute (%k: 64) sum (%t: "T") { %d[%t, %k] * %x[%t, %k] } {attn.batch = "sum"}

    // becomes

    %db, %dw = attn.kernel loop { .. }
    ```
  }];
}

def ChooseBlocks : Pass<"attn-choose-blocks", "ProgramOp"> {
  let summary = "how many threads a block of a launch has";
  let description = [{
    * In: a batched program whose work is divided.
    * Out: the same program, in which a sum over all examples has blocks of one
      warp (`#nvidia.block<32>`). These sums are few, and long: with smaller
      blocks more processors get one.
    * After: `attn-divide-work`, and all passes that form kernels.
    * Not: other targets; products, whose blocks are those of tiles; sums in kernels and loops, whose blocks have
      one size. No bit changes: whatever a block has, 16 threads do a unit.

    Example: the gradient of a bias of 64 numbers.

    ```mlir
    %db = attn.compute (%k: 64) sum (%t: "T") { %dy[%t, %k] } {attn.batch = "sum", ..}

    // becomes

    %db = attn.compute .. {attn.batch = "sum", attn.config = #nvidia.block<32>, ..}
    ```
  }];
}

def ChooseTiles : Pass<"attn-choose-tiles", "ProgramOp"> {
  let summary = "the size of the tiles in which a product is computed";
  let description = [{
    * In: a batched program whose products are named and whose kernels are
      formed.
    * Out: the same program, in which products have a configuration
      `#nvidia.tiles`. `small`: the rows do not grow with the lengths of
      examples, and 64 examples give fewer than 64 tiles of 64 x 64, so that
      most processors would be idle. `large`: there are at least 128 tiles of
      128 x 128, which read half as much per operation. `any`: the rows are the
      places of all examples, so only the launch knows the number of tiles.
      A product with rounded factors is `large` if it has 128 columns or more
      and is outside loops. If it reads copies, and the GPU has groups of four
      warps (`group_columns`), it is `group`, with tiles of 128 x 128, or
      `wide`, with tiles of 128 rows and `group_columns`. Then `cluster` blocks,
      whose tiles are below each other, share their fetches.
    * After: all passes that form kernels, which have tiles of their own.
    * Not: other targets; products of each example outside of loops. No bit changes: each element
      is one chain of terms in any tile.

    Example: a step of a loop, 64 rows of 512 columns, is 8 tiles of 64 x 64,
    and 64 small ones.

    ```mlir
    %z = attn.compute (%n: 512) sum (%k: 512) { %h[%k] * %u[%n, %k] } {attn.product = ..}

    // becomes

    %z = attn.compute .. {attn.config = #nvidia.tiles<small>, attn.product = ..}
    ```
  }];
}

def GatherCopies : Pass<"attn-gather-copies", "ProgramOp"> {
  let summary = "weights are copied by one launch";
  let description = [{
    * In: a batched program whose arrays have their places.
    * Out: the same program, in which `attn.gathered_copies` of a product names
      copies of weights in bf16 that one launch makes ahead of it: its own and
      those that later products read first, up to 250 (a launch gets 500
      addresses). What remains to be copied by a launch ahead of each product is
      rows that no equation stores.
    * After: `attn-place-arrays`, which says where copies are.
    * Not: where no launch is saved, as each product but one has rows to copy as
      well; what a program computes of weights; targets without `copy_rows`.

    Example: two layers, in a program whose equations store the rows.

    ```mlir
    %y = attn.compute .. {attn.packed = #attn.location<packed 4>, attn.packed_left = #attn.location<packed 5>}
    ..
    %z = attn.compute .. {attn.packed = #attn.location<packed 8>, attn.packed_left = #attn.location<packed 9>}

    // becomes

    %y = attn.compute .. {attn.gathered_copies = [#attn.location<packed 4>, #attn.location<packed 8>], ..}
    ..
    %z = attn.compute .. {attn.packed = #attn.location<packed 8>, attn.packed_left = #attn.location<packed 9>}
    ```
  }];
}

def KeepLoops : Pass<"attn-keep-loops", "ProgramOp"> {
  let summary = "loops whose steps are all one launch of a device";
  let description = [{
    * In: a batched program whose arrays have their places.
    * Out: the same program, in which `attn.stays` says of a loop that it is one
      launch, and `attn.phase` and `attn.turn` of each op of its body when that
      is computed in a step. Between two phases, and two steps, all blocks of
      the launch wait for each other. The ops of a turn do not need each other;
      those of the next turn of a phase (none written: the first) need what the
      same block has done before, as the block of an example is the same in all
      ops that have one. `attn.lists_ahead`: the rows of the products of a step
      are listed in the last phase of the step before. `attn.kept_columns` of a
      product whose weights no step writes: its columns, in strips of 32, stay
      in the memory of blocks from the first step to the last, as far as there
      is room; the number is that of its first strip among those of the loop.
    * After: `attn-place-arrays`: an op needs another one if it touches a memory
      that the other writes, or writes one that the other reads.
    * Not: other targets; loops
      with a loop in their body, a kernel in strips, or a product in f32 that has
      no small tiles: blocks of these have another size, or memory of their own;
      loops of one step or two; loops of more arrays than a launch gets
      addresses. Rows are not listed ahead where a product of the last phase
      reads its list.

    Example: two products of a step read the state before it, and the third
    equation needs both.

    ```mlir
    %last = attn.scan "S" (%t) carries (%before = %zero ..) axes [] {
      %z = attn.compute (%n: 64) sum (%k: 64) { %before[%k] * %u[%n, %k] }
      %r = attn.compute (%n: 64) sum (%k: 64) { %before[%k] * %w[%n, %k] }
      %next = attn.compute (%n: 64) { %z[%n] * tanh(%r[%n]) }
      attn.yield %next
    }

    // becomes

    %last = attn.scan "S" (%t) .. {
      %z = attn.compute .. {attn.kept_columns = 0, attn.phase = 0}
      %r = attn.compute .. {attn.kept_columns = 2, attn.phase = 0}
      %next = attn.compute .. {attn.phase = 1}
      attn.yield %next
    } {attn.stays}
    ```
  }];
}

#endif // FOVEA_TARGETS_NVIDIA_PASSES_TD
