//===- AttnArrayOps.td - arrays given by equations ---------*- tablegen -*-===//
//
// `attn.compute` with the ops of its body, and the few ops that are not an
// equation of scalars.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ARRAY_OPS_TD
#define ATTN_ARRAY_OPS_TD

include "dialect/AttnBase.td"
include "dialect/AdjointInterface.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// ComputeOp
//===----------------------------------------------------------------------===//

def Attn_ComputeOp : Attn_Op<"compute", [
    Pure, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>,
    DeclareOpInterfaceMethods<Attn_AdjointInterface>]> {
  let summary = "an array given by an equation of scalars";
  let description = [{
        result[p..] = reducer over r.. where condition(p.., r..) of body(p.., r..)

    The parallel indices `p..` come first, then the reduction indices `r..`.
    The body may read any array of the enclosing region, the array itself
    included: that is a recurrence, and `attn-schedule` finds its order.

    An index runs from its lower bound (0 unless `1 to "T"` says otherwise) to
    its extent, exclusively. Elements below a lower bound are zero, and so are
    elements whose condition is false when there is no reducer. Without a
    reducer there are no reduction indices. A normaliser (`softmax`,
    `log_softmax`, `cumsum`) has exactly one and keeps it as the last axis.

    Over an empty range (or where the condition excludes everything) `sum`,
    `any`, `cumsum` give 0, `all` true, `prod` 1, and `mean`, `max`, `min`,
    `logsumexp`, `softmax`, `log_softmax`, `argmax`, `argmin` give 0. Of values
    that are all -infinity `logsumexp` and `log_softmax` are -infinity, and
    `softmax` is 0: nothing is possible. What a condition excludes is 0 in the
    result of a normaliser. `argmax` is the lowest index among equals. With
    several reduction indices, `argmax` numbers them row-major, a nested length
    as its largest.

    The adjoint of an element that does not take part is 0. `max` and `min` give
    all to the first extremal element, `prod` the product of the others without
    a division, `logsumexp` exp(b - y), divided by the sum of all such shares
    (1 but for rounding), and 0 to what is -infinity. `argmax`, `argmin`, `any`
    and `all` give nothing. Of the scalars in a body, `maximumf(a, b)` gives to
    a where a >= b (so `maximumf(0, x)` has derivative 0 at 0), `minimumf(a, b)`
    to a where a <= b; |x| has derivative 0 at 0, a power with respect to its
    exponent 0 where its base is 0, and sqrt an infinite one at 0.

    * (C1) the regions have one `index` argument per index, `body` yields the
      result's element type (`argmax`, `argmin`: any number), `condition` i1.
    * (C2) the result's extents are those of the parallel indices, followed,
      for a normaliser, by that of the reduction index.
    * (C3) a reducer other than `none` has a reduction index, `none` has none.
    * (C4) lower bounds of the result's axes are at least 0.
    * (C5) the regions hold scalars: ops of arith, math and scf, `attn.read`,
      `attn.extent`, `attn.sigmoid`, `attn.softplus`, `attn.stop`,
      `attn.rounded`, `attn.random`.
    * (C6) `mean`, `logsumexp`, `softmax` and `log_softmax` give f64, `any` and
      `all` i1, `argmax` and `argmin` i64, the others f64 or i64.
    * (C7) a reducer other than `none` may have an order; `lanes` names one of
      its reduction indices, and only sums are `fused`.
    * (C8) what is `partial` is undefined where its condition does not hold, a sum
      where it holds for no term, and nobody uses it there. It gives f64, and has
      no reducer or a sum.
    * (C9) an equation that gives bf16 has no reducer. Its body yields an f64
      that bf16 has: of `attn.rounded`, read from an array of bf16, or zero.

    Example: `energy[t,i] = sum[a](v[a] * tanh(q[t,a] + k[i,a]))`.

    ```mlir
    %q = attn.data "q" : !attn.array<["T", 512], f64>
    %k = attn.data "k" : !attn.array<["S", 512], f64>
    %v = attn.param "v" : !attn.array<[512], f64>
    %energy = attn.compute "energy" (%t: "T", %i: "S") sum (%a: 512) {
      %0 = attn.read %q[%t, %a] : !attn.array<["T", 512], f64>
      %1 = attn.read %k[%i, %a] : !attn.array<["S", 512], f64>
      %2 = arith.addf %0, %1 : f64
      %3 = math.tanh %2 : f64
      %4 = attn.read %v[%a] : !attn.array<[512], f64>
      %5 = arith.mulf %4, %3 : f64
      attn.yield %5 : f64
    } : !attn.array<["T", "S"], f64>
    ```

    With a condition: weights over the positions up to t.

    ```mlir
    %score = attn.data "score" : !attn.array<["T", "T"], f64>
    %weight = attn.compute "weight" (%t: "T") softmax (%u: "T") where {
      %0 = arith.cmpi sle, %u, %t : index
      attn.yield %0 : i1
    } {
      %0 = attn.read %score[%t, %u] : !attn.array<["T", "T"], f64>
      attn.yield %0 : f64
    } : !attn.array<["T", "T"], f64>
    ```
  }];
  let arguments = (ins
    OptionalAttr<StrAttr>:$label,          // the equation's name, for people
    StrArrayAttr:$indices,                 // names of the indices
    Attn_Extents:$extents,                 // one per index
    DenseI64ArrayAttr:$lower,              // one per index
    Attn_Count:$numParallel,
    Attn_Reducer:$reducer,
    OptionalAttr<Attn_Order>:$order,       // required of reducers after derive
    UnitAttr:$partial                      // undefined where excluded
  );
  let regions = (region MaxSizedRegion<1>:$condition, SizedRegion<1>:$body);
  let results = (outs Attn_Array:$result);
  let assemblyFormat = [{
    ($label^)? custom<Compute>($indices, $extents, $lower, $numParallel, $reducer, $order, $condition, $body)
    attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// Creates the op with an empty body block (and an empty condition block
    /// when `withCondition`) that has one index argument per index. `names`,
    /// `extents` and `lower` list parallel indices first; an empty `lower`
    /// means zeros. The result type follows from `elementType`.
    OpBuilder<(ins "::mlir::StringRef":$label,
      "::llvm::ArrayRef<::mlir::Attribute>":$names,
      "::llvm::ArrayRef<::mlir::Attribute>":$extents,
      "::llvm::ArrayRef<int64_t>":$lower, "int64_t":$numParallel,
      "Reducer":$reducer, "::mlir::Type":$elementType,
      CArg<"bool", "false">:$withCondition)>
  ];
  let extraClassDeclaration = [{
    unsigned getNumIndices() { return getExtents().size(); }
    unsigned getNumReduction() { return getNumIndices() - getNumParallel(); }
    bool hasCondition() { return !getCondition().empty(); }
    /// softmax, log_softmax and cumsum keep their reduction axis.
    bool isNormaliser();
    ::mlir::BlockArgument getIndex(unsigned i) { return getBody().getArgument(i); }
    ::mlir::Value getYielded() { return getBody().front().getTerminator()->getOperand(0); }
    ::mlir::Type getElementType() { return getResult().getType().getElementType(); }
  }];
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ComputeOp", "ScanOp", "SearchOp", "KernelOp"]>]> {
  let summary = "the value of a body";
  let description = [{
    Ends the body or condition of `attn.compute` with a scalar, the body of a
    loop with the next values of its carries and with its rows, and that of a
    kernel with what it gives.

    ```mlir
    %ones = attn.compute (%i: "S") {
      %0 = arith.constant 1.0 : f64
      attn.yield %0 : f64
    } : !attn.array<["S"], f64>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` qualified(type($values)))?";
}

//===----------------------------------------------------------------------===//
// Scalars inside a body
//===----------------------------------------------------------------------===//

def Attn_ReadOp : Attn_Op<"read", [Pure, AttrSizedOperandSegments]> {
  let summary = "one element of an array";
  let description = [{
        result = array[indices..]

    `cases` give what stands at places outside the array (inside it they do not
    count): the first case all of whose `axis = place` pairs hold decides, and
    reads its own array at the remaining indices. A place is a number, or the
    name of a length (the value of that length: one past the last element of its
    axis). An index outside the array that no case covers, or for which the
    case's own array has no element, gives `default`; without one it is an error
    of the program that emitted the read (the front end proves that it never
    happens, and the interpreter traps).

    * (C1) as many indices as the array has axes.
    * (C2) a case places axes of the array, each once; its array has the axes
      that it does not place.
    * (C3) the result is of the array's element type, or f64 of one of bf16; so
      are cases and default.

    Example: `f[i-1,k] * (a[i-1] ?? 0)` with the boundary `f[-1,k]`.

    ```mlir
    %f = attn.data "f" : !attn.array<["S", 512], f64>
    %init = attn.param "init" : !attn.array<[512], f64>
    %a = attn.data "a" : !attn.array<["S"], f64>
    %g = attn.compute (%i: "S", %k: 512) {
      %one = arith.constant 1 : index
      %zero = arith.constant 0.0 : f64
      %before = arith.subi %i, %one : index
      %0 = attn.read %f[%before, %k] cases [[[0, -1]]] (%init : !attn.array<[512], f64>) : !attn.array<["S", 512], f64>
      %1 = attn.read %a[%before] default %zero : f64 : !attn.array<["S"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["S", 512], f64>
    ```
  }];
  let arguments = (ins
    Attn_Array:$array,
    Variadic<Index>:$indices,
    Variadic<Attn_Array>:$alternatives,
    Optional<AnyType>:$otherwise,
    OptionalAttr<ArrayAttr>:$places  // per case: array of [axis, place] pairs
  );
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $array `[` $indices `]` (`cases` $places^ `(` $alternatives `:` qualified(type($alternatives)) `)`)?
    (`default` $otherwise^ `:` qualified(type($otherwise)))? attr-dict `:` qualified(type($array)) `` custom<ElementOf>(ref(type($array)), type($result))
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$array, "::mlir::ValueRange":$indices)>
  ];
  let extraClassDeclaration = [{
    ::fovea::attn::ArrayType getArrayType() {
      return ::llvm::cast<::fovea::attn::ArrayType>(getArray().getType());
    }
    /// Whether it reads `array` at the first index of its equation alone, and
    /// not as a case.
    bool isAtFirstIndex(::mlir::Value array);
  }];
}

def Attn_ExtentOp : Attn_Op<"extent", [Pure]> {
  let summary = "a length as a number";
  let description = [{
    The value of the length `name`. A nested length is given the index of its
    parent: `attn.extent "W"[%m]`; `attn.extent largest "W"` is the largest that
    it has in the example, whatever the place.

    ```mlir
    attn.length "M"
    attn.length "W" over "M"
    %words = attn.compute "words" (%m: "M") {
      %0 = attn.extent "W"[%m]
      %1 = arith.index_cast %0 : index to i64
      attn.yield %1 : i64
    } : !attn.array<["M"], i64>
    ```
  }];
  let arguments = (ins StrAttr:$length, Optional<Index>:$parent, UnitAttr:$largest);
  let results = (outs Index:$result);
  let assemblyFormat = "(`largest` $largest^)? $length (`[` $parent^ `]`)? attr-dict";
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::StringAttr":$length, "::mlir::Value":$parent), [{
      build($_builder, $_state, length, parent, /*largest=*/::mlir::UnitAttr());
    }]>
  ];
}

class Attn_UnaryScalarOp<string mnemonic> : Attn_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins F64:$operand);
  let results = (outs F64:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Attn_SigmoidOp : Attn_UnaryScalarOp<"sigmoid"> {
  let summary = "1 / (1 + exp(-x)), without overflow";
  let description = [{
    One op, because `1 / (1 + exp(-x))` has the adjoint inf / inf for x = -1000.

    ```mlir
    %x = attn.data "x" : !attn.array<["S"], f64>
    %gate = attn.compute "gate" (%i: "S") {
      %0 = attn.read %x[%i] : !attn.array<["S"], f64>
      %1 = attn.sigmoid %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["S"], f64>
    ```
  }];
}

def Attn_SoftplusOp : Attn_UnaryScalarOp<"softplus"> {
  let summary = "log(1 + exp(x)), without overflow";
  let description = [{
    One op, because `log(1 + exp(x))` overflows for x = 1000.

    ```mlir
    %x = attn.data "x" : !attn.array<["S"], f64>
    %width = attn.compute "width" (%i: "S") {
      %0 = attn.read %x[%i] : !attn.array<["S"], f64>
      %1 = attn.softplus %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["S"], f64>
    ```
  }];
}

def Attn_StopOp : Attn_UnaryScalarOp<"stop"> {
  let summary = "a number through which no adjoint flows back";
  let description = [{
        result = operand,    d result / d operand = 0

    An op of bodies, and no attribute of an equation: it goes wherever the body
    is inlined, and an equation with it is never taken for one without.
    `attn-drop-stops` takes it out after differentiation.

    Example: the derivative with respect to v is `stop(v)`, and not `2 * v`.

    ```mlir
    %v = attn.param "v" : !attn.array<[2], f64>
    %y = attn.compute "y" (%k: 2) {
      %0 = attn.read %v[%k] : !attn.array<[2], f64>
      %1 = attn.stop %0 : f64
      %2 = arith.mulf %1, %0 : f64
      attn.yield %2 : f64
    } : !attn.array<[2], f64>
    ```
  }];
}

def Attn_RoundedOp : Attn_Op<"rounded", [Pure]> {
  let summary = "the nearest number with fewer bits";
  let description = [{
    The f32 that is nearest to the operand, and of all numbers of `to` the one
    nearest to that; of two the even one. Infinity and NaN stay. The derivative
    is 1: an adjoint passes as if nothing were rounded.

    An op of bodies, like `attn.stop`: it moves with the body, so passes change
    no bit. An equation that yields it may give an array of `to`.

    * (C1) `to` is bf16.

    ```mlir
    %x = attn.data "x" : !attn.array<["S", 64], f64>
    %key = attn.compute "key" (%i: "S", %n: 64) {
      %0 = attn.read %x[%i, %n] : !attn.array<["S", 64], f64>
      %1 = attn.rounded %0 to bf16
      attn.yield %1 : f64
    } : !attn.array<["S", 64], bf16>
    ```
  }];
  let arguments = (ins F64:$operand, TypeAttr:$to);
  let results = (outs F64:$result);
  let assemblyFormat = "$operand `to` $to attr-dict";
  let hasVerifier = 1;
}

def Attn_RandomOp : Attn_Op<"random", [Pure]> {
  let summary = "a number drawn uniformly between 0 and 1";
  let description = [{
    One word of Philox4x32-10, keyed by (seed, `ordinal`) and counted by
    (update, example, `sample`, `place`): the same for every batch, schedule,
    thread and machine, and wherever the body is inlined. `sample` is the number
    of the draw where an example has several, 0 without one. The number is
    (2 * floor(word / 2^9) + 1) / 2^24: exact in f32, and neither 0 nor 1. Of
    the type i64 it is the word itself, below 2^32.
    `word` says which of the four: two of one place are independent. A `shared`
    number is counted without the example and the sample: a whole batch has it.

    Whatever else is drawn is an equation of such numbers: a category is the
    place up to which its probabilities add up to less than one. Evaluation
    without a seed draws from a seed of its own; words are 2^32 then, which no
    seed gives: what is random only while training is drawn from words. The
    derivative is 0.

    * (C1) `word` is below 4.
    * (C2) What is `shared` has no `sample`.

    ```mlir
    %coins = attn.compute "coins" (%t: "T") {
      %half = arith.constant 0.5 : f64
      %0 = attn.random [%t] ordinal 3 word 0
      %1 = arith.cmpf olt, %0, %half : f64
      attn.yield %1 : i1
    } : !attn.array<["T"], i1>
    ```

    Dropout of the rate r keeps an element by the word of its row-major place:
    `word < 2^32 * r` gives 0, any other word below 2^32 gives x / (1 - r), and
    2^32 gives x.

    ```mlir
    %x = attn.data "x" : !attn.array<["T"], f64>
    %y = attn.compute "y" (%t: "T") {
      %limit = arith.constant 2147483648 : i64
      %none = arith.constant 4294967296 : i64
      %one = arith.constant 1.0 : f64
      %two = arith.constant 2.0 : f64
      %zero = arith.constant 0.0 : f64
      %word = attn.random [%t] ordinal 0 word 0 : i64
      %isDropped = arith.cmpi slt, %word, %limit : i64
      %isDrawn = arith.cmpi slt, %word, %none : i64
      %kept = arith.select %isDrawn, %two, %one : f64
      %factor = arith.select %isDropped, %zero, %kept : f64
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      %1 = arith.mulf %0, %factor : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    ```
  }];
  let arguments = (ins Index:$place, Optional<Index>:$sample, Attn_Count:$ordinal, Attn_Count:$word,
                       UnitAttr:$shared);
  let results = (outs AnyTypeOf<[F64, I64]>:$result);
  let assemblyFormat = "`[` $place `]` (`sample` $sample^)? (`shared` $shared^)? `ordinal` $ordinal `word` $word attr-dict `` custom<RandomType>(type($result))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The word of an evaluation that has no seed.
    static constexpr int64_t noWord = int64_t(1) << 32;
    /// Whether it gives the word, and is random only where there is a seed.
    bool givesWord() { return getType().isInteger(64); }
    /// The row-major number of the place `indices` of an array.
    static ::mlir::Value placeOf(::mlir::OpBuilder &builder, ::mlir::Location loc,
                                 ::mlir::ValueRange indices,
                                 ::llvm::ArrayRef<::mlir::Attribute> extents);
  }];
}

//===----------------------------------------------------------------------===//
// Array ops that are not an equation of scalars
//===----------------------------------------------------------------------===//

def Attn_ConcatOp : Attn_Op<"concat", [Pure, Attn_NamesResult, DeclareOpInterfaceMethods<Attn_AdjointInterface>]> {
  let summary = "joins arrays along their last axis";
  let description = [{
    `a ++ b`. An op, and not an equation with a case for each part, so that a
    contraction over it can be split by columns (`attn-split-concat`).

    * (C1) operands and result agree in all axes but the last, whose extents
      are numbers that add up.

    ```mlir
    %f = attn.data "f" : !attn.array<["S", 512], f64>
    %b = attn.data "b" : !attn.array<["S", 512], f64>
    %h = attn.concat %f, %b : !attn.array<["S", 512], f64>, !attn.array<["S", 512], f64> -> !attn.array<["S", 1024], f64>
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$label, Variadic<Attn_Array>:$parts);
  let results = (outs Attn_Array:$result);
  let assemblyFormat = "($label^)? $parts attr-dict `:` qualified(type($parts)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Attn_ReshapeOp : Attn_Op<"reshape", [Pure, Attn_NamesResult, DeclareOpInterfaceMethods<Attn_AdjointInterface>]> {
  let summary = "regroups the last axes, row-major";
  let description = [{
    `fold` and `concat[h]`. The first axes of operand and result are the same;
    the others are numbers with the same product, and the elements keep their
    row-major order.

    * (C1) operand and result have the first `keep` axes and the elements in
      common.
    * (C2) their other extents are numbers with the same product.

    ```mlir
    %x = attn.data "x" : !attn.array<["T", 512], f64>
    %q = attn.reshape %x keep 1 : !attn.array<["T", 512], f64> -> !attn.array<["T", 8, 64], f64>
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$label, Attn_Array:$operand, Attn_Count:$keep);
  let results = (outs Attn_Array:$result);
  let assemblyFormat = "($label^)? $operand `keep` $keep attr-dict `:` qualified(type($operand)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Attn_AppendOp : Attn_Op<"append", [Pure]> {
  let summary = "the array with one more row";
  let description = [{
    `array` with `row` at position `at` of axis `axis`: how a loop grows what it
    will read as a whole. Nobody reads the old array afterwards.

    * (C1) the row is the array without the axis.

    ```mlir
    %t = arith.constant 3 : index
    %k = attn.data "k" : !attn.array<["T", 64], f64>
    %row = attn.data "row" : !attn.array<[64], f64>
    %longer = attn.append %k[%t] axis 0 = %row : !attn.array<["T", 64], f64>, !attn.array<[64], f64>
    ```
  }];
  let arguments = (ins Attn_Array:$array, Index:$at, Attn_Count:$axis, Attn_Array:$row);
  let results = (outs Attn_Array:$result);
  let assemblyFormat = [{
    $array `[` $at `]` `axis` $axis `=` $row attr-dict `:` qualified(type($array)) `,` qualified(type($row))
    `` custom<SameType>(ref(type($array)), type($result))
  }];
  let hasVerifier = 1;
}

#endif // ATTN_ARRAY_OPS_TD
