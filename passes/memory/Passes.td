//===- Passes.td - where arrays lie ------------------------*- tablegen -*-===//
//
// The passes of the phase `memory`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_PASSES_TD
#define FOVEA_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def RecomputeForMemory : Pass<"attn-recompute-for-memory", "ModuleOp"> {
  let summary = "arrays are computed again instead of kept";
  let description = [{
    * In: batched programs whose products are named, and a batch: `batch`
      examples of these `lengths`, and the `threads` that compute it.
    * Out: the same programs, or the one that `program` names, in which equations whose arrays wait long for their
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
    Option<"program", "program", "std::string", "\"\"", "the only program that it treats">,
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
      with `attn.prepares` that is kept from run to run. Where a target has
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

#endif // FOVEA_PASSES_MEMORY_PASSES_TD
