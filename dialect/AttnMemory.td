//===- AttnMemory.td - where arrays lie --------------------*- tablegen -*-===//
//
// Decisions of the phase `memory`, as attributes: which memory each array has,
// and what a kernel needs for itself. Which bytes that are is for the runtime,
// which knows the batch.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_MEMORY_TD
#define ATTN_MEMORY_TD

include "dialect/AttnBase.td"

def Attn_LocationKind : I32EnumAttr<"LocationKind", "how an array has its memory", [
  I32EnumAttrCase<"own", 0>, I32EnumAttrCase<"argument", 1>,
  I32EnumAttrCase<"same", 2>, I32EnumAttrCase<"row", 3>,
  I32EnumAttrCase<"carry", 4>, I32EnumAttrCase<"room", 5>,
  I32EnumAttrCase<"packed", 6>, I32EnumAttrCase<"list", 7>
]> {
  let cppNamespace = "::fovea::attn";
  let genSpecializedAttr = 0;
}

def Attn_ArrayLocation : AttrDef<Attn_Dialect, "ArrayLocation"> {
  let mnemonic = "location";
  let summary = "where an array lies";
  let description = [{
    After the phase `memory` every array of a program has one: as
    `attn.location` of the op that gives it; in `attn.locations` the results,
    and in `attn.carries` the carries of a loop. What a kernel gives lies where
    its members put it.

    A program has numbered memories. Each is as large as the array that has it,
    and there for as long as the steps of the program need it; which of them
    share bytes is for the runtime.

    * `own 3`: the array is all of memory 3, and the first that is.
      `own 3 ranks`: in the loop around, the rows of the examples stand in the
      order of their rank.
    * `argument 3`: the same, in memory that the caller gives.
    * `same 3`: all of memory 3, which another array has: a view of it, or what
      is written over an array that nobody reads any more.
    * `row 3`: the row, at the present step, of the rows that the loop around
      keeps in memory 3.
    * `carry 3`: the row at the step before; ahead of the first step, the array
      that the carry begins with.
    * `room 2`: only a part at a time is there, in room 2 of the kernel.

    Of a product also its right side, packed, has a location, `attn.packed`
    (`packed 4`, or `packed 4 kept` where it stays from run to run, or a room),
    of one that reads copies in bf16 its left side as well, `attn.packed_left`,
    and so has the list of the places of its left side's rows, `attn.list`
    (`list 5`, int64, or a room), where they are not consecutive. An equation
    that stores such a copy beside its result says where: `attn.stored_copy`.
    A loop of which a carry's next value is another of its carries has memory
    for the copy, in `attn.swaps`.

    Example: the state of a recurrence is a row of all its states.

    ```mlir
    %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<["S"], f64>
    %zero = attn.param "zero" {attn.batch = "once", attn.location = #attn.location<argument 1>} : !attn.array<[], f64>
    %last, %all = attn.scan "S" (%i) carries (%before = %zero : !attn.array<[], f64>) axes [0] {
      %next = attn.compute () {
        %0 = attn.read %before[] : !attn.array<[], f64>
        %1 = attn.read %x[%i] : !attn.array<["S"], f64>
        %2 = arith.addf %0, %1 : f64
        attn.yield %2 : f64
      } {attn.batch = "each", attn.location = #attn.location<row 3>} : !attn.array<[], f64>
      attn.yield %next, %next : !attn.array<[], f64>, !attn.array<[], f64>
    } : !attn.array<[], f64>, !attn.array<["S"], f64> {attn.batch = "each", attn.locations = [#attn.location<own 2>, #attn.location<own 3>],
       attn.carries = [#attn.location<carry 3>]}
    ```
  }];
  let parameters = (ins "LocationKind":$kind, "unsigned":$number,
                        "bool":$ranks, "bool":$kept);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "LocationKind":$kind, "unsigned":$number), [{
    return $_get($_ctxt, kind, number, /*ranks=*/false, /*kept=*/false);
  }]>];
  let extraClassDeclaration = [{
    /// Whether the number is one of a memory of the program.
    bool isMemory() const { return getKind() != LocationKind::room; }
    /// Whether the array is a row of another.
    bool isRow() const {
      return getKind() == LocationKind::row || getKind() == LocationKind::carry;
    }
  }];
}

def Attn_Room : AttrDef<Attn_Dialect, "Room"> {
  let mnemonic = "room";
  let summary = "memory that each thread has for a kernel";
  let description = [{
    So many elements, times each extent; `to 32` rounds an extent up to a
    multiple, and `plus 16` adds to that. They are real numbers, or whole ones,
    `of i64`. `attn.rooms` lists those of a kernel.

    Example: a strip of 64 rows, whose width is no power of two.

    `#attn.room<64 x "S" to 16 plus 16>`
  }];
  let parameters = (ins "int64_t":$count, ArrayRefParameter<"RoomExtent">:$extents,
                        "bool":$whole);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The elements, but for the extents that are lengths.
    int64_t getFixedCount() const;
    /// Whether that is all.
    bool isFixed() const;
  }];
}

#endif // ATTN_MEMORY_TD
