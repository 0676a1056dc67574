//===- Passes.td - where arrays lie ------------------------*- tablegen -*-===//
//
// The passes of the phase `memory`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_PASSES_TD
#define FOVEA_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def RecomputeForMemory : Pass<"attn-recompute-for-memory", "ProgramOp"> {
  let summary = "arrays are computed again instead of kept";
  let description = [{
    * In: a batched program whose products are named, and a batch: `batch`
      examples of these `lengths`, and the `threads` that compute it.
    * Out: the same program, in which equations whose arrays wait long for their
      last readers are computed a second time ahead of these, until the plan for
      that batch takes no more than `bytes`, or nothing is left. `attn.bytes`
      says what it takes then. Every result has the same bits.
    * After: `attn-name-products`, and before `attn-form-strips`: what is
      computed again may belong to kernels.
    * Not: what loops keep, outputs, views, and arrays of less than a five
      hundredth of all. With room for everything the program stays as it is.

    Example: `%h` is as large as the batch, and its readers stand far apart.

    ```mlir
    %h = attn.compute (%t: "T", %k: 64) { tanh(%x[%t, %k]) }
    ..
    %d = attn.compute (%t: "T", %k: 64) { %g[%t, %k] * (1 - %h[%t, %k]^2) }

    // becomes

    %h = attn.compute (%t: "T", %k: 64) { tanh(%x[%t, %k]) }
    ..
    %again = attn.compute (%t: "T", %k: 64) { tanh(%x[%t, %k]) }
    %d = attn.compute (%t: "T", %k: 64) { %g[%t, %k] * (1 - %again[%t, %k]^2) }
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "0", "what the arrays may take">,
    Option<"batch", "batch", "int64_t", "1", "the examples of a batch">,
    Option<"threads", "threads", "int64_t", "1", "the threads that compute it">,
    Option<"isDouble", "double", "bool", "false", "whether real numbers are f64">,
    ListOption<"lengths", "lengths", "std::string", "the lengths of its examples, as S=100">
  ];
}

def PlaceArrays : Pass<"attn-place-arrays", "ProgramOp"> {
  let summary = "where every array of a program lies";
  let description = [{
    * In: a batched program whose kernels are formed.
    * Out: the same program, in which every array has an `#attn.location`, and
      every kernel in strips or columns the rooms that it needs. Rows are
      written where a loop keeps them; a carry is the row of the step before
      where that is kept, and is written over by its next value where nobody
      reads it any more. Arrays of pairs that a kernel has to itself are a strip
      of rows in one of its rooms, products in columns some rows of sums.
      Products of the same weights share what is packed of them; in a program
      with `attn.prepares` that is kept from run to run. Where a machine has
      `copy_rows`, both factors of a large product in bf16 have a copy, which
      products that read an array in the same way share.
    * After: all that changes a program.
    * Not: which memories share bytes; that depends on the batch. Factors are not
      copied in loops, of convolutions, and of fewer than 256
      columns or rows, as far as these are numbers, or 64 terms.

    Example: the rows of a recurrence are kept, so its state needs no memory.

    ```mlir
    %last, %all = attn.scan "S" (%i) carries (%before = %zero ..) axes [0] {
      %next = attn.compute (%k: 8) { tanh(%before[%k] + %x[%i, %k]) }
      attn.yield %next, %next
    }

    // becomes

    %last, %all = attn.scan "S" (%i) carries (%before = %zero ..) axes [0] {
      %next = attn.compute .. {attn.location = #attn.location<row 3>}
      attn.yield %next, %next
    } {attn.locations = [#attn.location<own 2>, #attn.location<own 3>],
       attn.carries = [#attn.location<carry 3>]}
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
      well; what a program computes of weights; machines without `copy_rows`.

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
    * Not: on a machine without memory on the chip, which has no launches; loops
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

#endif // FOVEA_PASSES_MEMORY_PASSES_TD
