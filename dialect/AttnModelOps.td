//===- AttnModelOps.td - systems, their inputs and choices -*- tablegen -*-===//
#ifndef ATTN_MODEL_OPS_TD
#define ATTN_MODEL_OPS_TD

include "dialect/AttnBase.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// SystemOp, ProgramOp
//===----------------------------------------------------------------------===//

def Attn_SystemOp : Attn_Op<"system", [
    IsolatedFromAbove, Symbol, NoTerminator, SingleBlock,
    DeclareOpInterfaceMethods<RegionKindInterface>]> {
  let summary = "equations in no order";
  let description = [{
    The equations of one example, in any order: an array may be read before it
    stands, and may read itself. `attn-schedule` turns a system into a program.

    * (C1) it takes no arguments: an input has a name.

    ```mlir
    attn.system @loss {
      attn.length "S"
      %x = attn.data "x" : !attn.array<["S"], f64>
      %s = attn.compute "s" (%i: "S") {
        %one = arith.constant 1 : index
        %zero = arith.constant 0.0 : f64
        %before = arith.subi %i, %one : index
        %0 = attn.read %s[%before] default %zero : f64 : !attn.array<["S"], f64>
        %1 = attn.read %x[%i] : !attn.array<["S"], f64>
        %2 = arith.addf %0, %1 : f64
        attn.yield %2 : f64
      } : !attn.array<["S"], f64>
      attn.output "s" %s : !attn.array<["S"], f64>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Attn_ProgramOp : Attn_Op<"program", [
    IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "scheduled equations: every array is computed before it is read";
  let description = [{
    What `attn-schedule` makes of a system. A recurrence is an `attn.scan`,
    generation an `attn.search`.

    * (C1) it takes no arguments: an input has a name.

    ```mlir
    attn.program @loss {
      attn.length "S"
      %x = attn.data "x" : !attn.array<["S"], f64>
      %zero = attn.compute () {
        %0 = arith.constant 0.0 : f64
        attn.yield %0 : f64
      } : !attn.array<[], f64>
      %last, %s = attn.scan "S" (%i) carries (%before = %zero : !attn.array<[], f64>) axes [0] {
        %next = attn.compute () {
          %0 = attn.read %before[] : !attn.array<[], f64>
          %1 = attn.read %x[%i] : !attn.array<["S"], f64>
          %2 = arith.addf %0, %1 : f64
          attn.yield %2 : f64
        } : !attn.array<[], f64>
        attn.yield %next, %next : !attn.array<[], f64>, !attn.array<[], f64>
      } : !attn.array<[], f64>, !attn.array<["S"], f64>
      attn.output "s" %s : !attn.array<["S"], f64>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Lengths, inputs, outputs
//===----------------------------------------------------------------------===//

def Attn_LengthOp : Attn_Op<"length", [Attn_InModel]> {
  let summary = "names an extent that is not a number";
  let description = [{
    A free length comes with the data. `over` makes it nested: one length for
    each index of the parent. `is` gives it as an affine expression of other
    lengths, which stand before it. A length that is `open` is found by the
    search: how long a generated sequence becomes. `blocks` marks the number of
    blocks of places that a search completes one by one, in training as well:
    sums over them are chains.

    * (C1) a length is free, nested, given by other lengths, or open: one of
      them.
    * (C2) the map has no dimensions, one symbol per name and one result.
    * (C3) a number of blocks is given by a quotient.

    ```mlir
    attn.length "S"
    attn.length "W" over "M"
    attn.length "S+1" is affine_map<()[s0] -> (s0 + 1)> ["S"]
    attn.length "T" open
    attn.length "T//4" is affine_map<()[s0] -> (s0 floordiv 4)> ["T"] blocks
    ```
  }];
  let arguments = (ins StrAttr:$length, OptionalAttr<StrAttr>:$parent,
                       OptionalAttr<AffineMapAttr>:$map, OptionalAttr<StrArrayAttr>:$of,
                       UnitAttr:$open, UnitAttr:$blocks);
  let assemblyFormat = "$length (`over` $parent^)? (`is` $map^ $of)? (`open` $open^)? "
                       "(`blocks` $blocks^)? attr-dict";
  let extraClassDeclaration = [{
    /// Returns whether other lengths, divided by a number, give this one.
    bool isQuotient();
  }];
  let hasVerifier = 1;
}

def Attn_ParamOp : Attn_Op<"param", [Pure, Attn_NamesResult]> {
  let summary = "a parameter of the model, by its path";
  let description = [{
    ```mlir
    %w = attn.param "key.weight" : !attn.array<[512, 1024], f64>
    ```
  }];
  let arguments = (ins StrAttr:$path);
  let results = (outs Attn_Array:$result);
  let assemblyFormat = "$path attr-dict `:` qualified(type($result))";
}

def Attn_DataOp : Attn_Op<"data", [Pure, Attn_NamesResult]> {
  let summary = "an array that is given, by its name";
  let description = [{
    Data of the example, or a number that the caller of a derived program
    gives (`seed.nll` of a gradient).

    ```mlir
    %src = attn.data "src" : !attn.array<["S"], i64>
    ```
  }];
  let arguments = (ins StrAttr:$source);
  let results = (outs Attn_Array:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($result))";
}

def Attn_OutputOp : Attn_Op<"output", [Attn_InModel]> {
  let summary = "an array that the caller wants, by its name";
  let description = [{
    ```mlir
    %nll = attn.data "nll" : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
    ```
  }];
  let arguments = (ins StrAttr:$target, Attn_Array:$value);
  let assemblyFormat = "$target $value attr-dict `:` qualified(type($value))";
}

def Attn_EquationOp : Attn_Op<"equation", [Attn_InModel]> {
  let summary = "the array that an equation of the spec defines, by its name";
  let description = [{
    Makes an array visible to `--get` and `--show`; derive turns those that are
    asked for into outputs and drops the others, so what nobody asks for is
    dead code.

    ```mlir
    %weight = attn.data "weight" : !attn.array<["T", "S"], f64>
    attn.equation "alpha" %weight : !attn.array<["T", "S"], f64>
    ```
  }];
  let arguments = (ins StrAttr:$target, Attn_Array:$value);
  let assemblyFormat = "$target $value attr-dict `:` qualified(type($value))";
}

def Attn_PenaltyOp : Attn_Op<"penalty", [Attn_InModel]> {
  let summary = "a term of the objective";
  let description = [{
    Its elements add up to what training minimises besides -log p.

    ```mlir
    %shortfall = attn.data "shortfall" : !attn.array<["S"], f64>
    attn.penalty %shortfall : !attn.array<["S"], f64>
    ```
  }];
  let arguments = (ins Attn_Array:$value);
  let assemblyFormat = "$value attr-dict `:` qualified(type($value))";
}

//===----------------------------------------------------------------------===//
// ChoiceOp
//===----------------------------------------------------------------------===//

def Attn_ChoiceOp : Attn_Op<"choice", [AttrSizedOperandSegments, Attn_NamesResult]> {
  let summary = "a random choice: `name[..] ~ distribution(..)`";
  let description = [{
    One choice per element over the axes of `observed` (or of the result). Each
    parameter of the distribution has these axes first, then its own:
    `categorical` has `logits` or `probs` with one event axis last;
    `bernoulli` `logit` or `prob`; both may have `logp` instead, log p of each
    value along a last axis; `normal` `mean`, `sd`; `uniform` `low`, `high`; `mixture` `logit` [M], `mean` [M], `sd` [M] of normals; of pairs (a
    last axis of 2) `logit` [M], `mean` [M, 2], `sd` [M, 2], `correlation` [M].

    With `observed` the choice is data: it adds -log p to the objective. Without
    it the op has a result: a name that is generated (or, with `latent`, a
    latent). `end` is the value that ends the sequence: a number, or the name of
    a length.

    `treated` says what becomes of a latent: its `kind` is an estimator in
    `@training` and a treatment in `@decoding`, and what else stands there are
    the estimator's numbers. `attn-draw-latents` puts equations in its place. A
    latent that is observed is one that was drawn, of which the objective takes
    log p for its estimator. What an estimator wants to know besides are its
    `reward` and its `baseline`.

    An observed choice may be treated, too: the kind `policy` trains on what is
    generated, and also has `reward` (a metric) or `equation`, `baseline`,
    `samples` and `likelihood`.

    Where an observed choice has a `weight`, one number or one for each element,
    log p counts as often.

    * (C1) the choice has either an observed array or a result.
    * (C2) it names the parameters of its distribution, each once and in the
      order above, one array of f64 each.
    * (C3) a parameter has the axes of the choice, then its own.
    * (C4) `weight`, `reward` and `baseline` are numbers of type f64, one or one
      for each element.
    * (C5) the values of `categorical` are i64, those of `bernoulli` are i1, and
      those of the others are f64.

    ```mlir
    %l = attn.data "l" : !attn.array<["T", 97], f64>
    %tgt = attn.data "tgt" : !attn.array<["T"], i64>
    attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 97], f64>) observed %tgt : !attn.array<["T"], i64>
    %y = attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 97], f64>) end 1 : i64 -> !attn.array<["T"], i64>
    ```
  }];
  let arguments = (ins StrAttr:$target, Attn_Distribution:$distribution,
    StrArrayAttr:$parameterNames, Variadic<Attn_Array>:$parameters,
    Optional<Attn_Array>:$observed, Optional<Attn_Array>:$weight, Optional<Attn_Array>:$reward, Optional<Attn_Array>:$baseline,
    OptionalAttr<Attn_Extent>:$end, UnitAttr:$latent, OptionalAttr<DictionaryAttr>:$treatment);
  let results = (outs Optional<Attn_Array>:$result);
  let assemblyFormat = [{
    $target $distribution $parameterNames `(` $parameters `:` qualified(type($parameters)) `)`
    (`observed` $observed^ `:` qualified(type($observed)))?
    (`weight` $weight^ `:` qualified(type($weight)))?
    (`reward` $reward^ `:` qualified(type($reward)))? (`baseline` $baseline^ `:` qualified(type($baseline)))?
    (`end` $end^)? (`latent` $latent^)? (`treated` $treatment^)? attr-dict
    (`->` qualified(type($result))^)?
  }];
  let hasVerifier = 1;
}

#endif // ATTN_MODEL_OPS_TD
