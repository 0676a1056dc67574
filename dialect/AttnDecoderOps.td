//===- AttnDecoderOps.td - a search between programs -------*- tablegen -*-===//
//
// What `attn-split-decoder` leaves besides the programs: how the runtime's
// search runs them. runtime/Decoder.h documents the names of values.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DECODER_OPS_TD
#define ATTN_DECODER_OPS_TD

include "dialect/AttnBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Attn_MarkKind : I32EnumAttr<"MarkKind", "how a value steers a search", [
  I32EnumAttrCase<"valid", 0>, I32EnumAttrCase<"stop", 1>,
  I32EnumAttrCase<"score", 2>
]> { let cppNamespace = "::fovea::attn"; }

def Attn_ArrayTypeAttr : TypeAttrOf<Attn_Array>;

def Attn_InDecoder : HasParent<"DecoderOp">;
def Attn_InDecoderStep : ParentOneOf<["DecoderOp", "DecoderLoopOp"]>;

//===----------------------------------------------------------------------===//
// DecoderOp
//===----------------------------------------------------------------------===//

def Attn_DecoderOp : Attn_Op<"decoder", [
    HasParent<"::mlir::ModuleOp">, NoRegionArguments, NoTerminator, SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "how a search runs the programs of a decoder";
  let description = [{
    The program `encode` runs once for the examples of a batch. The body begins
    with the states. Then it has one step, in order: programs, the choices
    between them, and the marks that judge these. Last are the values that the
    steps stack, and the outputs. The program `finish` runs after the last step.

    `search` is the number of steps: a length or a number. The search finds it
    unless it is `known`. Without `search`, each choice is made once. `longest`
    is the largest number of steps.

    Programs exchange values by name: `encode/K`, `carry/K`, `inner/K`,
    `choice/K`, `value/K`, `logp/K`, `stack/K` and `last/K`. The ops of the body
    number the states, choices and stacks. Several decoders run in order.

    * (C1) the body has only parts of a decoder.
    * (C2) at most one program runs between two choices.
    * (C3) `known`, `reverse`, `longest`, states, loops and stacks need `search`.
    * (C4) `encode`, `finish` and what runs are programs of the module.
    * (C5) a value is given once, before it is read. All who give or read it
      agree on its type.

    ```mlir
    module {
      attn.decoder encode @encode search "T" {
        attn.decoder.state "y" from "encode/0" next "choice/0" : !attn.array<[], i64>
        attn.decoder.run @step
        attn.decoder.choice "y" categorical ["logp"] of ["logp/0"] : [!attn.array<[97], f64>] end 1 : i64 -> !attn.array<[], i64>
        attn.decoder.stack "choice/0" axis 0 : !attn.array<[], i64>
        attn.decoder.output "y" is "stack/0"
      }
      attn.program @encode {
        %begin = attn.data "begin" : !attn.array<[], i64>
        attn.output "encode/0" %begin : !attn.array<[], i64>
      }
      attn.program @step {
        attn.length "T" open
        %y = attn.data "carry/0" : !attn.array<[], i64>
        %table = attn.param "table" : !attn.array<[97, 97], f64>
        %logp = attn.compute () log_softmax (%v: 97) {
          %0 = attn.read %y[] : !attn.array<[], i64>
          %1 = arith.index_cast %0 : i64 to index
          %2 = attn.read %table[%1, %v] : !attn.array<[97, 97], f64>
          attn.yield %2 : f64
        } : !attn.array<[97], f64>
        attn.output "logp/0" %logp : !attn.array<[97], f64>
      }
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$encode, OptionalAttr<Attn_Extent>:$extent,
                       UnitAttr:$known, UnitAttr:$reverse, OptionalAttr<StrAttr>:$longest,
                       OptionalAttr<FlatSymbolRefAttr>:$finish);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `encode` $encode (`search` $extent^)? (`known` $known^)? (`reverse` $reverse^)?
    (`longest` $longest^)? (`finish` $finish^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The parts of a step
//===----------------------------------------------------------------------===//

def Attn_DecoderStateOp : Attn_Op<"decoder.state", [Attn_InDecoderStep]> {
  let summary = "a value that steps, or the positions of a loop, hand on";
  let description = [{
    State K of the decoder is `carry/K`; state K of all loops is `inner/K`. It
    is `from` at first, or has no elements, and `next` after each step.
    `appended`: `next` is one more row instead. The program `by` writes the row
    in place; without it, the search does.

    * (C1) only an appended state has a writer, and a loop has no appended one.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$label, OptionalAttr<StrAttr>:$initial,
                       StrAttr:$next, UnitAttr:$appended,
                       OptionalAttr<FlatSymbolRefAttr>:$writer, Attn_ArrayTypeAttr:$type);
  let assemblyFormat = [{
    ($label^)? (`from` $initial^)? `next` $next (`appended` $appended^)? (`by` $writer^)?
    attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

def Attn_DecoderRunOp : Attn_Op<"decoder.run", [Attn_InDecoderStep]> {
  let summary = "a program of a step";
  let description = [{
    Runs for all hypotheses of the search, a row each.
  }];
  let arguments = (ins FlatSymbolRefAttr:$program);
  let assemblyFormat = "$program attr-dict";
}

def Attn_DecoderChoiceOp : Attn_Op<"decoder.choice", [Attn_InDecoderStep]> {
  let summary = "a choice that the search makes";
  let description = [{
    Choice K is `choice/K`. What `attn.choice` says of the distribution, its
    parameters and `end` holds.

    * (C1) the parameters have names, values and types, one each.
    * (C2) they are those of the distribution, and so is the type of its values,
      as of `attn.choice`.
  }];
  let arguments = (ins StrAttr:$target, Attn_Distribution:$distribution,
                       StrArrayAttr:$parameterNames, StrArrayAttr:$parameters,
                       TypeArrayAttr:$parameterTypes, OptionalAttr<Attn_Extent>:$end,
                       Attn_ArrayTypeAttr:$type);
  let assemblyFormat = [{
    $target $distribution $parameterNames `of` $parameters `:` $parameterTypes
    (`end` $end^)? `->` $type attr-dict
  }];
  let hasVerifier = 1;
}

def Attn_DecoderLoopOp : Attn_Op<"decoder.loop", [
    Attn_InDecoder, NoRegionArguments, NoTerminator, SingleBlock]> {
  let summary = "choices that a step makes again and again";
  let description = [{
    The body runs once for each position of the extent.

    * (C1) the body has states, programs, choices and marks, and at least one
      choice.
    * (C2) at most one program runs between two choices.
  }];
  let arguments = (ins Attn_Extent:$extent, UnitAttr:$reverse);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$extent (`reverse` $reverse^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Attn_DecoderMarkOp : Attn_Op<"decoder.mark", [Attn_InDecoderStep]> {
  let summary = "a value that steers the search";
  let description = [{
    Judges the choices before it, as `attn.mark` does.
  }];
  let arguments = (ins Attn_MarkKind:$kind, StrAttr:$value);
  let assemblyFormat = "$kind $value attr-dict";
}

//===----------------------------------------------------------------------===//
// What a search gives
//===----------------------------------------------------------------------===//

def Attn_DecoderStackOp : Attn_Op<"decoder.stack", [Attn_InDecoder]> {
  let summary = "the rows of a value, one per step";
  let description = [{
    Stack K is `stack/K`. Each step gives one row of the type; the steps are at
    `axis` of the whole array.
  }];
  let arguments = (ins StrAttr:$value, Attn_Count:$axis, Attn_ArrayTypeAttr:$type);
  let assemblyFormat = "$value `axis` $axis attr-dict `:` $type";
  let hasVerifier = 1;
}

def Attn_DecoderOutputOp : Attn_Op<"decoder.output", [Attn_InDecoder]> {
  let summary = "an array that the caller wants, by its name";
  let description = [{
    Without a value it is an output of `finish`.
  }];
  let arguments = (ins StrAttr:$target, OptionalAttr<StrAttr>:$value);
  let assemblyFormat = "$target (`is` $value^)? attr-dict";
}

#endif // ATTN_DECODER_OPS_TD
