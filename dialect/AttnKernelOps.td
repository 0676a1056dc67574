//===- AttnKernelOps.td - what is computed together --------*- tablegen -*-===//
//
// Decisions of the phase `kernels`, as IR: every machine finds them here, and
// none of them changes what a program gives.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_KERNEL_OPS_TD
#define ATTN_KERNEL_OPS_TD

include "dialect/AttnBase.td"

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

def Attn_Units : I32EnumAttr<"Units", "the work of a launch that may be done apart", [
  I32EnumAttrCase<"examples", 0>, I32EnumAttrCase<"rows", 1>,
  I32EnumAttrCase<"places", 2>, I32EnumAttrCase<"ranges", 3>,
  I32EnumAttrCase<"once", 4>
]> {
  let cppNamespace = "::fovea::attn";
  let genSpecializedAttr = 0;
}

def Attn_UnitsAttr : EnumAttr<Attn_Dialect, Attn_Units, "units"> {
  let summary = "the work of a launch that may be done apart";
  let description = [{
    Stands as `attn.units` at what is launched and is no matrix product. A
    machine does the units in any order, some of them at the same time.

    * `examples`: what each example has, of those that take part in a loop.
    * `rows`: the places of the first index, of all examples.
    * `places`: the places of the first index, of what a batch has once.
    * `ranges`: consecutive places of the last index, of what a batch has once;
      how many of them together is the machine's business.
    * `once`: all of it.

    `#attn.units<rows>`
  }];
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

def Attn_Schedule : I32EnumAttr<"Schedule", "how the equations of a kernel take turns", [
  I32EnumAttrCase<"strips", 0>, I32EnumAttrCase<"columns", 1>,
  I32EnumAttrCase<"loop", 2>, I32EnumAttrCase<"rows", 3>,
  I32EnumAttrCase<"places", 4>
]> { let cppNamespace = "::fovea::attn"; }

def Attn_KernelOp : Attn_Op<"kernel", [SingleBlock]> {
  let summary = "equations that are computed together";
  let description = [{
    The body holds equations in order, and gives what they give: what it yields
    are the results. What it does not yield need not be in memory.

    * `strips`: some rows of every equation, then the next rows. The rows are
      `over` an extent, once for each place of the extents `outer`; the
      attribute `attn.shared` of a member says which of its indices these are,
      the row last. Where that is an index of its sum, the member adds up over
      the rows. With `keys`, there are so many columns of every array of pairs
      at a time, from the first on, and a softmax and what is read with it are
      put together from these.
    * `columns`: some columns of the products that stand first, then the same
      columns of the equations that read them at their own place.
    * `loop`: sums over the same indices, at each place all of them. It may
      stand in a kernel in strips.
    * `rows`: each equation of one example, then those of the next.
    * `places`: each equation at one place of the extent `over` of an example,
      then at the next place. The place is the first index of every equation.

    * (C1) the body yields the types of the results.
    * (C2) in `strips` there is an extent of the rows, and each equation has
      as many shared indices as there are outer extents, and one more; the
      extents of these indices are those. Kernels in `places` have an extent of
      the rows, too. No other schedule has such extents, outer ones, or keys.
    * (C3) the body holds equations and their views; in `strips` also kernels
      that are a loop, in `rows` also joined and appended arrays, and in a loop
      only sums of real numbers.
    * (C4) in a `loop` all equations have the same indices, and read none of
      the others.
    * (C5) in `places` the first index of each equation is parallel, and over
      the extent of the kernel. Equations, and their views, read each other at
      this index alone. A view keeps the first extent.

    Example: weights that nobody else needs are never in memory as a whole.

    ```mlir
    %score = attn.data "score" : !attn.array<["T", "S"], f64>
    %value = attn.data "value" : !attn.array<["S", 64], f64>
    %read = attn.kernel strips over "T" {
      %weight = attn.compute "weight" (%t: "T") softmax (%u: "S") {
        %0 = attn.read %score[%t, %u] : !attn.array<["T", "S"], f64>
        attn.yield %0 : f64
      } {attn.shared = array<i64: 0>} : !attn.array<["T", "S"], f64>
      %c = attn.compute "c" (%t: "T", %k: 64) sum (%u: "S") {
        %0 = attn.read %weight[%t, %u] : !attn.array<["T", "S"], f64>
        %1 = attn.read %value[%u, %k] : !attn.array<["S", 64], f64>
        %2 = arith.mulf %0, %1 : f64
        attn.yield %2 : f64
      } {attn.shared = array<i64: 0>} : !attn.array<["T", 64], f64>
      attn.yield %c : !attn.array<["T", 64], f64>
    } : !attn.array<["T", 64], f64>
    ```
  }];
  let arguments = (ins Attn_Schedule:$schedule, OptionalAttr<Attn_Extent>:$over,
                       OptionalAttr<Attn_Extents>:$outer,
                       OptionalAttr<I64Attr>:$keys);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Attn_Array>:$results);
  let assemblyFormat = [{
    $schedule (`over` $over^)? (`outer` $outer^)? (`keys` $keys^)? $body attr-dict (`:` qualified(type($results))^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
    /// The equations, in order, with those of loops inside.
    ::llvm::SmallVector<ComputeOp> getMembers();
    /// What a result is called inside.
    ::mlir::Value getYielded(::mlir::OpResult result) {
      return getYield()->getOperand(result.getResultNumber());
    }
  }];
}

#endif // ATTN_KERNEL_OPS_TD
