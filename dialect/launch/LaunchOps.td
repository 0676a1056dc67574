//===- LaunchOps.td - every op of the launch dialect -------*- tablegen -*-===//
//
// The host schedule of a program: what runs, in which order, and on which
// memories. docs/IR.md is the tour.
//
//===----------------------------------------------------------------------===//

#ifndef LAUNCH_OPS_TD
#define LAUNCH_OPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Launch_Dialect : Dialect {
  let name = "launch";
  let cppNamespace = "::fovea::launch";
  let summary = "what runs: the launches of a program, in order";
  let description = [{
    A `launch.program` is made of an `attn.program` after the phase `memory`.
    The function of the program executes it: every `launch.run` is one call of
    the runtime, and there are no others.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

class Launch_Op<string mnemonic, list<Trait> traits = []>
    : Op<Launch_Dialect, mnemonic, traits>;

def Launch_Memory : TypeDef<Launch_Dialect, "Memory">,
    BuildableType<"$_builder.getType<::fovea::launch::MemoryType>()"> {
  let mnemonic = "memory";
  let summary = "memory whose address is in a slot of the frame";
}

def Launch_Scope : I32EnumAttr<"Scope", "how many of a memory there are", [
  I32EnumAttrCase<"once", 0>, I32EnumAttrCase<"each", 1>,
  I32EnumAttrCase<"thread", 2>, I32EnumAttrCase<"block", 3>
]> { let cppNamespace = "::fovea::launch"; }

def Launch_FormAttr : AttrDef<Launch_Dialect, "Form"> {
  let mnemonic = "form";
  let summary = "what a kernel knows of a memory that a run gives to it";
  let description = [{
    `#launch.form<each ["T", 512] x f32>`
  }];
  let parameters = (ins EnumParameter<Launch_Scope>:$scope,
                        "::mlir::ArrayAttr":$extents,
                        "::mlir::Type":$element);
  let assemblyFormat = "`<` $scope $extents `x` $element `>`";
}
def Launch_Forms : TypedArrayAttrBase<Launch_FormAttr, "forms of memories">;

//===----------------------------------------------------------------------===//
// Containers
//===----------------------------------------------------------------------===//

def Launch_ProgramOp : Launch_Op<"program", [IsolatedFromAbove, SingleBlock,
                                             NoTerminator, NoRegionArguments,
                                             SymbolTable]> {
  let summary = "the launches of a program";
  let description = [{
    Ops in `of` are numbered: those of the program, of the bodies of its loops
    and of its kernels, in the order of the text, from 0.

    * (C1) the items of a block have the order of their ops. Only a `pack` may
      come earlier.
    * (C2) no two runs do the same work for the same op and the same tile.
    * (C3) what a run reads is given, kept, or written by a run before it.
    * (C4) no run uses a memory after its `launch.dealloc`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$program);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`of` $program $body attr-dict";
  let hasRegionVerifier = 1;
}

def Launch_PrepareOp : Launch_Op<"prepare", [SingleBlock, NoTerminator,
                                             NoRegionArguments]> {
  let summary = "runs once for a set of parameters";
  let description = [{
    Writes the memories that are `kept` from run to run.

    * (C1) it is the first item of a program, apart from memories and numbers.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

def Launch_ForOp : Launch_Op<"for", [SingleBlock, NoTerminator,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop of launches";
  let description = [{
    The argument of the body is the step. A loop `by_rank` sorts the examples by
    decreasing length, so that the rows in a step are the first ones. In any
    other loop all rows `over` which it runs take part, and a kernel skips those
    that have ended. `carries` are memories of which a step reads the rows of
    earlier steps.

    ```
    launch.for in "T" of 7 over %batch by_rank carries(%s) do (%t) { .. }
    ```
  }];
  let arguments = (ins AnyAttrOf<[StrAttr, I64Attr]>:$extent, I64Attr:$number,
                       I64:$rows, UnitAttr:$reversed, UnitAttr:$byRank,
                       Variadic<Launch_Memory>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `in` $extent `of` $number `over` $rows (`reversed` $reversed^)?
    (`by_rank` $byRank^)? (`carries` `(` $carries^ `)`)?
    `do` custom<LoopBody>($body) attr-dict
  }];
  let hasRegionVerifier = 1;
}

def Launch_PersistentOp : Launch_Op<"persistent", [SingleBlock, NoTerminator,
                                                   NoRegionArguments]> {
  let summary = "a loop that is one launch of a device";
  let description = [{
    All blocks synchronise between two phases of a step, the threads of a block
    between two turns of a phase. A device that refuses the launch runs the
    launches of the loop.

    * (C1) it holds one loop.
  }];
  let arguments = (ins I64Attr:$number);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`of` $number $body attr-dict";
  let hasRegionVerifier = 1;
}

def Launch_StepOp : Launch_Op<"step"> {
  let summary = "tells the runtime the number of a step, for debugging";
  let arguments = (ins I64Attr:$number);
  let assemblyFormat = "$number attr-dict";
}

//===----------------------------------------------------------------------===//
// Memories and numbers
//===----------------------------------------------------------------------===//

def Launch_Origin : I32EnumAttr<"Origin", "who writes a memory first", [
  I32EnumAttrCase<"given", 0>, I32EnumAttrCase<"kept", 1>,
  I32EnumAttrCase<"made", 2>
]> { let cppNamespace = "::fovea::launch"; }

def Launch_MemoryOp : Launch_Op<"memory", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a memory of the program";
  let description = [{
    There is one for the batch (`once`), one for `each` example, or one for each
    `thread` or `block`. The caller writes a `given` memory; `launch.prepare`
    writes a `kept` one; runs write one that is `made`. In a step of a loop such
    a memory exists for that step.

    `of memory 3` is the number of the memory in the locations of the program
    (`attn.location`). What has none is the workspace of a kernel.

    `%s = launch.memory "s" at 34 of memory 3 : made each ["T", 512] x f32`
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$slot,
                       OptionalAttr<I64Attr>:$memory, Launch_Origin:$origin,
                       Launch_Scope:$scope, ArrayAttr:$extents,
                       TypeAttr:$element);
  let results = (outs Launch_Memory:$result);
  let assemblyFormat = [{
    $name `at` $slot (`of` `memory` $memory^)? `:` $origin $scope $extents `x`
    $element attr-dict
  }];
  let extraClassDeclaration = [{
    FormAttr getForm() {
      return FormAttr::get(getContext(), getScope(), getExtents(),
                           getElement());
    }
  }];
}

def Launch_DeallocOp : Launch_Op<"dealloc"> {
  let summary = "the end of the live range of memories";
  let description = [{
    Their bytes are free for others. A memory of a step ends with the step.

    `launch.dealloc %q, %e`
  }];
  let arguments = (ins Variadic<Launch_Memory>:$memories);
  let assemblyFormat = "$memories attr-dict";
}

class Launch_Number<string mnemonic> : Launch_Op<mnemonic, [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let results = (outs I64:$result);
}

def Launch_BatchOp : Launch_Number<"batch"> {
  let summary = "the number of examples";
  let assemblyFormat = "attr-dict";
}

def Launch_RowsOp : Launch_Number<"rows"> {
  let summary = "the number of rows that take part in a step of a loop";
  let description = "(C1) the step is the argument of a `launch.for`.";
  let arguments = (ins I64:$step);
  let assemblyFormat = "$step attr-dict";
  let hasVerifier = 1;
}

def Launch_LongestOp : Launch_Number<"longest"> {
  let summary = "the largest value of a length in the batch";
  let arguments = (ins StrAttr:$length);
  let assemblyFormat = "$length attr-dict";
}

def Launch_PlacesOp : Launch_Number<"places"> {
  let summary = "the places of all examples in a layout";
  let description = [{
    `layout` is the number of the layout in the description of the program, and
    `lengths` are its lengths.
  }];
  let arguments = (ins ArrayAttr:$lengths, I64Attr:$layout);
  let assemblyFormat = "$lengths `layout` $layout attr-dict";
}

//===----------------------------------------------------------------------===//
// Kernels and runs
//===----------------------------------------------------------------------===//

def Launch_Work : I32EnumAttr<"Work", "what a run does for its op", [
  I32EnumAttrCase<"pack", 0>, I32EnumAttrCase<"start", 1>,
  I32EnumAttrCase<"list", 2>, I32EnumAttrCase<"clear", 3>,
  I32EnumAttrCase<"gather", 4>, I32EnumAttrCase<"copy", 5>,
  I32EnumAttrCase<"scatter", 6>, I32EnumAttrCase<"link", 7>,
  I32EnumAttrCase<"compute", 8>, I32EnumAttrCase<"where", 9>,
  I32EnumAttrCase<"commit", 10>, I32EnumAttrCase<"end", 11>
]> { let cppNamespace = "::fovea::launch"; }

def Launch_Units : I32EnumAttr<"Units", "the work of a launch that may be done apart", [
  I32EnumAttrCase<"examples", 0>, I32EnumAttrCase<"rows", 1>,
  I32EnumAttrCase<"places", 2>, I32EnumAttrCase<"ranges", 3>,
  I32EnumAttrCase<"once", 4>, I32EnumAttrCase<"tiles", 5>,
  I32EnumAttrCase<"panels", 6>, I32EnumAttrCase<"strips", 7>
]> { let cppNamespace = "::fovea::launch"; }

def Launch_KernelOp : Launch_Op<"kernel", [Symbol, HasParent<"ProgramOp">]> {
  let summary = "a kernel, which runs launch";
  let description = [{
    One function is emitted for it. It does its work for an op of the program,
    or for any other with equal equations: the op in the text is that of the
    first run. Its memories and scalars are those that a run gives to it, and so
    are some of the places that it reads.

    ```
    launch.kernel @cost compute of 13 reads(each ["T", 16] x f32)
        writes(each ["T"] x f32)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Launch_Work:$work,
                       I64Attr:$number,
                       DefaultValuedAttr<I64Attr, "0">:$scalars,
                       DefaultValuedAttr<I64Attr, "0">:$places,
                       Launch_Forms:$reads, Launch_Forms:$writes,
                       Launch_Forms:$updates, Launch_Forms:$scratch);
  let assemblyFormat = [{
    $sym_name $work `of` $number (`scalars` `(` $scalars^ `)`)?
    (`places` `(` $places^ `)`)?
    custom<Forms>($reads, $writes, $updates, $scratch) attr-dict
  }];
}

def Launch_RunOp : Launch_Op<"run", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one launch";
  let description = [{
    The work that a launch does for an op of the program:

    * `compute`: the op itself.
    * `pack`: packs the weights of a product, ahead of all loops.
    * `list`: lists where the rows, or the runs, of a product's left side begin:
      of rows it reads no element, but their addresses.
    * `clear`: zeros where the op itself writes nothing.
    * `gather`, `copy`: make copies of factors in bf16, of several products or
      of one.
    * `scatter`, `link`: list the terms of a scatter, and link those of a row.
    * `where`: zeros in the rows that the condition of a product excludes.
    * `start`, `commit`, `end`: copy the carries ahead of a loop, the carries
      and rows at the end of a step, and the last carries after the loop. The
      op of a `commit` is the `attn.yield` of the loop.

    A memory is read, written as a whole, or updated: in place, or in part.
    `scratch` is undefined before and after. The kernel finds the `scalars` in
    the `slots` of its frame. Where ops of one kernel read at different constant
    places, as experts read their weights in `g[t,e]`, the kernel finds the
    `places` in slots of their own. The units are counted from `count`, in
    `tiles` of so many rows for example; without it their number is constant.
    `tile` is a variant of the kernel among which the program chooses. In a
    `launch.persistent` each run has its phase and turn, but a `commit` is last.

    * (C1) it launches a kernel of its program.
    * (C2) its work, and the number and forms of what it gives to the kernel,
      are those of the kernel.
  }];
  let arguments = (ins Launch_Work:$work, I64Attr:$number,
                       OptionalAttr<StrAttr>:$label,
                       FlatSymbolRefAttr:$kernel, Variadic<I64>:$scalars,
                       Variadic<Launch_Memory>:$reads,
                       Variadic<Launch_Memory>:$writes,
                       Variadic<Launch_Memory>:$updates,
                       Variadic<Launch_Memory>:$scratch,
                       Launch_Units:$units, Optional<I64>:$count,
                       OptionalAttr<StrAttr>:$tile,
                       OptionalAttr<I64Attr>:$phase, OptionalAttr<I64Attr>:$turn,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$slots,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$places,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$placeSlots);
  let assemblyFormat = [{
    $work `of` $number ($label^)? `by` $kernel (`scalars` `(` $scalars^ `)` `at` $slots)?
    (`places` $places^ `at` $placeSlots)?
    (`reads` `(` $reads^ `)`)? (`writes` `(` $writes^ `)`)?
    (`updates` `(` $updates^ `)`)? (`scratch` `(` $scratch^ `)`)?
    `units` `(` $units ($count^)? `)` (`tile` $tile^)?
    (`phase` $phase^ `turn` $turn)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // LAUNCH_OPS_TD
