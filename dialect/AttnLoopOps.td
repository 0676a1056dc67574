//===- AttnLoopOps.td - loops over an index ----------------*- tablegen -*-===//
#ifndef ATTN_LOOP_OPS_TD
#define ATTN_LOOP_OPS_TD

include "dialect/AttnBase.td"
include "mlir/IR/OpAsmInterface.td"

class Attn_LoopOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat(traits, [SingleBlock,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>])> {
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Attn_Array>:$results);
  code loopDeclaration = [{
    unsigned getNumCarries() { return getInits().size(); }
    unsigned getNumStacked() { return getNumResults() - getNumCarries(); }
    ::mlir::BlockArgument getLoopIndex() { return getBody().getArgument(0); }
    ::mlir::BlockArgument getCarry(unsigned i) { return getBody().getArgument(1 + i); }
    ::mlir::OpResult getLast(unsigned i) { return getOperation()->getResult(i); }
    ::mlir::OpResult getStacked(unsigned i) {
      return getOperation()->getResult(getNumCarries() + i);
    }
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
    ::mlir::Value getNext(unsigned i) { return getYield()->getOperand(i); }
    ::mlir::Value getStackedValue(unsigned i) {
      return getYield()->getOperand(getNumCarries() + i);
    }
  }];
}

def Attn_ScanOp : Attn_LoopOp<"scan", [Pure]> {
  let summary = "a recurrence along one index";
  let description = [{
        carry := init;  for i in 0 .. extent-1 (reverse: from the end):
          carry, row := body(i, carry);  stacked[.., i, ..] := row

    The body reads arrays of the enclosing region directly. It yields the next
    value of each carry, then the rows. Results: the last value of each carry,
    then the stacked rows; `axes` says at which axis of a stacked array the loop
    index stands. Inside the body a row has no such axis.

    * (C1) the body has an index argument and one per init, of the init's type.
    * (C2) it yields the carries' types, then the stacked types without their
      loop axis, whose extent is the loop's.

    ```mlir
    %x = attn.data "x" : !attn.array<["S", 8], f64>
    %init = attn.param "init" : !attn.array<[8], f64>
    %last, %h = attn.scan "S" (%i) carries (%before = %init : !attn.array<[8], f64>) axes [0] {
      %next = attn.compute (%k: 8) {
        %0 = attn.read %before[%k] : !attn.array<[8], f64>
        %1 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
        %2 = arith.addf %0, %1 : f64
        attn.yield %2 : f64
      } : !attn.array<[8], f64>
      attn.yield %next, %next : !attn.array<[8], f64>, !attn.array<[8], f64>
    } : !attn.array<[8], f64>, !attn.array<["S", 8], f64>
    ```
  }];
  let arguments = (ins Attn_Extent:$extent, UnitAttr:$reverse,
                       Variadic<Attn_Array>:$inits, DenseI64ArrayAttr:$axes);
  let assemblyFormat = [{
    $extent (`reverse` $reverse^)? custom<Loop>($inits, type($inits), $axes, $body, type($results)) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = loopDeclaration;
}

def Attn_SearchOp : Attn_LoopOp<"search"> {
  let summary = "generates sequences, step by step";
  let description = [{
    A scan whose body makes choices (`attn.choice` with a result): the search
    (greedy, sampling, beam) runs the body up to a choice, takes a value, and
    goes on. What stands before the op is the encoder, its body is the step.

    `states` says of each carry, in order, as a dictionary: `name`, `kind`
    ("carried": a row of `window` steps ago; "window": the last `window` rows;
    "growing": all rows so far; "accumulator": a sum, or another reduction, of
    all rows so far), `window`, and `reorder` (whether it differs between
    hypotheses). The
    number of steps, and so the length `extent`, is found by the search unless
    it is given (`known`). Where it is not, an index over `extent` inside
    the body runs over the steps done so far, the present one included; outside,
    before the search, it runs over nothing: growing arrays start empty.

    The body may hold `attn.mark "valid"`, `"stop"` and `"score"`.

    * (C1) and (C2) as of `attn.scan`.
    * (C3) one state per carry, with a name and a kind.

    ```mlir
    attn.program @decode {
      attn.length "T" open
      %begin = attn.data "begin" : !attn.array<[], i64>
      %table = attn.param "table" : !attn.array<[97, 97], f64>
      %last, %all = attn.search "T" states [{name = "y", kind = "carried", window = 1 : i64, reorder = true} ] (%t) carries (%before = %begin : !attn.array<[], i64>) axes [0] {
        %logits = attn.compute "logits" (%v: 97) {
          %0 = attn.read %before[] : !attn.array<[], i64>
          %1 = arith.index_cast %0 : i64 to index
          %2 = attn.read %table[%1, %v] : !attn.array<[97, 97], f64>
          attn.yield %2 : f64
        } : !attn.array<[97], f64>
        %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<[97], f64>) end 1 : i64 -> !attn.array<[], i64>
        attn.yield %y, %y : !attn.array<[], i64>, !attn.array<[], i64>
      } : !attn.array<[], i64>, !attn.array<["T"], i64>
      attn.output "y" %all : !attn.array<["T"], i64>
    }
    ```
  }];
  let arguments = (ins Attn_Extent:$extent, UnitAttr:$reverse, Variadic<Attn_Array>:$inits,
                       DenseI64ArrayAttr:$axes, DictArrayAttr:$states,
                       UnitAttr:$known);
  let assemblyFormat = [{
    $extent (`reverse` $reverse^)? `states` $states (`known` $known^)?
    custom<Loop>($inits, type($inits), $axes, $body, type($results)) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = loopDeclaration;
}

def Attn_StepOp : Attn_Op<"step", [Pure]> {
  let summary = "the number of the present step of a search";
  let description = [{
    In a program that is one part of a step, what the index of the loop over
    `extent` is in the body of the search. All hypotheses are at one step.

    ```mlir
    attn.program @step {
      attn.length "T" open
      %t = attn.step "T"
      %place = attn.compute "place" () {
        %0 = arith.index_cast %t : index to i64
        attn.yield %0 : i64
      } : !attn.array<[], i64>
      attn.output "place" %place : !attn.array<[], i64>
    }
    ```
  }];
  let arguments = (ins Attn_Extent:$extent);
  let results = (outs Index:$result);
  let assemblyFormat = "$extent attr-dict";
}

def Attn_MarkOp : Attn_Op<"mark"> {
  let summary = "a value that steers the search: valid, stop, score or longest";
  let description = [{
    `valid`: whether the choice just made is allowed; `stop`: whether the
    sequence ends after this step; `score`: by which the search ranks;
    `longest`: the largest number of steps (outside the body). In a system the
    value has the generated index as its axis.

    * (C1) `valid` and `stop` are bits, `score` is f64, `longest` i64.

    ```mlir
    %enough = attn.data "enough" : !attn.array<["T"], i1>
    attn.mark "stop" %enough : !attn.array<["T"], i1>
    ```
  }];
  let arguments = (ins StrAttr:$target, Attn_Array:$value);
  let assemblyFormat = "$target $value attr-dict `:` qualified(type($value))";
  let hasVerifier = 1;
}

#endif // ATTN_LOOP_OPS_TD
