//===- AttnBase.td - the dialect and its type --------------*- tablegen -*-===//
//
// The attn dialect speaks of ONE example: no op knows of a batch, a mask or
// padding. docs/IR.md is the tour.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_BASE_TD
#define ATTN_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::fovea::attn";
  let summary = "attention models as equations over one example";
  let description = [{
    A model is a set of arrays over named extents. `attn.compute` gives an
    array by an equation of scalars; `attn.read` reads an element of an array;
    everything that a model does before batching is said with them.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
  private:
    void addAttributesOfDecisions();
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"
  ];
}

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// ArrayType
//===----------------------------------------------------------------------===//

def Attn_Array : TypeDef<Attn_Dialect, "Array"> {
  let mnemonic = "array";
  let summary = "an array of one example, over named or numbered extents";
  let description = [{
    `!attn.array<["S", 512], f64>`: S vectors of 512 numbers. An extent is a
    number, or the name of an `attn.length` of the module. Index axes and value
    axes of the language are one list. A nested length (`attn.length "W" over
    "M"`) varies along the last axis "M" before it. Extents are equal only when
    they are the same number or the same name.

    Elements are `f64` (real), `i64` (int, token, position) or `i1` (bit).
    `!attn.array<[], f64>` is one number. Elements of `bf16` are real numbers
    that bf16 has: they take two bytes, and a read gives one as an f64.
  }];
  let parameters = (ins
    "::mlir::ArrayAttr":$shape,      // IntegerAttr (i64) or StringAttr each
    "::mlir::Type":$elementType
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins
    "::llvm::ArrayRef<::mlir::Attribute>":$shape, "::mlir::Type":$elementType), [{
      return $_get(elementType.getContext(),
                   ::mlir::ArrayAttr::get(elementType.getContext(), shape),
                   elementType);
    }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    ::mlir::Attribute getExtent(unsigned axis) const { return getShape()[axis]; }
    /// The type of an element in a body: f64 of every real number.
    ::mlir::Type getScalarType() const;
    /// The same array without one axis / with other extents.
    ArrayType dropAxis(unsigned axis) const;
    ArrayType withShape(::llvm::ArrayRef<::mlir::Attribute> shape) const;
  }];
}

//===----------------------------------------------------------------------===//
// Attributes of decisions
//===----------------------------------------------------------------------===//

def Attn_ProductKind : I32EnumAttr<"ProductKind", "whose rows a matrix product multiplies at once", [
  I32EnumAttrCase<"weights", 0>, I32EnumAttrCase<"place", 1>,
  I32EnumAttrCase<"examples", 2>, I32EnumAttrCase<"each", 3>
]> {
  let cppNamespace = "::fovea::attn";
  let genSpecializedAttr = 0;
}

def Attn_Product : AttrDef<Attn_Dialect, "Product"> {
  let mnemonic = "product";
  let summary = "that an equation is computed as a matrix product";
  let description = [{
    Stands as `attn.product` at an `attn.compute` whose body multiplies two
    reads, and says which part each index of the equation has in

        C[batch.., rows.., columns..] = sum[terms..](A[batch.., rows.., terms..] * B[batch.., columns.., terms..])

    `left` is the operand of the body's product that is A. What the equation
    means is said by its body alone: without the attribute it gives the same.

    The kind says what is multiplied at once.

    * `weights`: the rows of all examples, with a B that the batch has once. B
      may be one matrix of several, and some rows of it.
    * `place`: the same, of an A that is read at one place of its first axes:
      a number, or the step of the loop around the equation.
    * `examples`: C is a sum over the examples, whose terms are consecutive.
    * `each`: one product for each example and each place of `batch`.

    `run(5)`, the last of the terms (the last of the rows, of `examples`): A is
    gathered, as by a convolution. Its last axis is read along that index.
    Where such a run begins is computed for each place of all other indices,
    from whatever the body says; where the condition does not hold, or the
    array ends and 0 stands outside of it, the run is 0.

    `columns(1 from 4 to 8)`: C is 0 outside of these columns.
    `columns(1 in -3 to 0)`: C is 0 where column - row is outside of the band;
    `terms(2 in * to 0)`: so is A where term - row is. `*` is no bound.

    Example: scores of eight heads, of the keys up to each query.

    ```mlir
    %q = attn.data "q" : !attn.array<["T", 8, 64], f64>
    %score = attn.compute (%h: 8, %t: "T", %u: "T") sum (%k: 64) where {
      %0 = arith.cmpi sle, %u, %t : index
      attn.yield %0 : i1
    } {
      %0 = attn.read %q[%t, %h, %k] : !attn.array<["T", 8, 64], f64>
      %1 = attn.read %q[%u, %h, %k] : !attn.array<["T", 8, 64], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } {attn.product = #attn.product<each, left = 0, batch(0), rows(1), columns(2 in * to 0), terms(3)>}
      : !attn.array<[8, "T", "T"], f64>
    ```
  }];
  let parameters = (ins
    "ProductKind":$kind,
    "unsigned":$left,                 // 0 or 1
    OptionalArrayRefParameter<"unsigned">:$batch,
    OptionalArrayRefParameter<"unsigned">:$rows,
    ArrayRefParameter<"unsigned">:$columns,
    ArrayRefParameter<"unsigned">:$terms,
    "std::optional<unsigned>":$run,
    "Band":$range,                    // of the columns that are not 0
    "Band":$columnBand,               // column - row
    "Band":$termBand                  // term - row
  );
  let hasCustomAssemblyFormat = 1;
}

def Attn_Order : AttrDef<Attn_Dialect, "Order"> {
  let mnemonic = "order";
  let summary = "in which order and with which roundings a reduction combines its elements";
  let description = [{
    The inherent attribute `order` of an `attn.compute` with a reducer, printed
    as `order(chain)`, `order(chain, fused)`, `order(lanes %k)` or
    `order(lanes %k, fused)`.

    * `chain`: each result is one chain over ascending indices, the last index
      the innermost.
    * `lanes %k`: there are 16 partial results. Element i of the reduction index
      `k` belongs to number i mod 16; in the end number i is combined with i + 8,
      then with i + 4, i + 2, i + 1.
    * `fused`: the yielded product and its addition are rounded once.

    A function of the equation as it is written (passes/analysis/Order.h)
    decides it, so the order is the same in training, scoring and decoding.
  }];
  let parameters = (ins
    "int64_t":$lanes, // the number of the index; -1 for a chain
    "bool":$fused
  );
  let assemblyFormat = "`<` $lanes `,` $fused `>`";
  let extraClassDeclaration = [{
    static constexpr int64_t chain = -1;
    bool isChain() const { return getLanes() == chain; }
  }];
}

def Attn_Scalar : AnyTypeOf<[F64, I64, I1]>;

/// A number that counts something.
def Attn_Count : ConfinedAttr<I64Attr, [IntNonNegative]>;

/// A number, or the name of an `attn.length`.
def Attn_Extent : AnyAttrOf<[Attn_Count, StrAttr], "a number or a name">;
def Attn_Extents : TypedArrayAttrBase<Attn_Extent, "numbers and names">;

/// Calls its result in printed IR what the spec calls it.
def Attn_NamesResult
    : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

/// The op belongs to the equations of a system or a program.
def Attn_InModel : ParentOneOf<["SystemOp", "ProgramOp"]>;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Attn_Reducer : I32EnumAttr<"Reducer", "how values over the reduction indices are combined", [
  I32EnumAttrCase<"none", 0>,       // no reduction index
  I32EnumAttrCase<"sum", 1>, I32EnumAttrCase<"prod", 2>, I32EnumAttrCase<"mean", 3>,
  I32EnumAttrCase<"max", 4>, I32EnumAttrCase<"min", 5>,
  I32EnumAttrCase<"argmax", 6>, I32EnumAttrCase<"argmin", 7>,
  I32EnumAttrCase<"any", 8>, I32EnumAttrCase<"all", 9>,
  I32EnumAttrCase<"logsumexp", 10>,
  // Normalisers keep the axes of their reduction indices.
  I32EnumAttrCase<"softmax", 11>, I32EnumAttrCase<"log_softmax", 12>,
  I32EnumAttrCase<"cumsum", 13>
]> { let cppNamespace = "::fovea::attn"; }

def Attn_Distribution : I32EnumAttr<"Distribution", "what a choice is drawn from", [
  I32EnumAttrCase<"categorical", 0>, I32EnumAttrCase<"bernoulli", 1>,
  I32EnumAttrCase<"normal", 2>, I32EnumAttrCase<"uniform", 3>,
  I32EnumAttrCase<"mixture", 4>
]> { let cppNamespace = "::fovea::attn"; }

#endif // ATTN_BASE_TD
