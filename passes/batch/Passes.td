//===- Passes.td - one example becomes many ----------------*- tablegen -*-===//
//
// The passes of the phase `batch`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_BATCH_PASSES_TD
#define FOVEA_PASSES_BATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def Batch : Pass<"attn-batch", "::mlir::ModuleOp"> {
  let summary = "decide what a batch has once and what each example has";
  let description = [{
    * In: programs.
    * Out: the same programs, in which every op that gives an array says in
      `attn.batch` how a batch has it: `once` (parameters, and what depends on
      them alone), `each` (one per example), or `sum` (one, the sum over the
      examples). Outputs `grad/..` are sums; the sum stands as deep as it can,
      in the contraction that makes the gradient.
    * After: `attn-schedule`.
    * Not: where arrays lie in memory.

    Example:

    ```mlir
    %dw = attn.compute "d w" (%d: 512, %k: 256) sum (%t: "T") { .. }
    attn.output "grad/w" %dw : !attn.array<[512, 256], f64>

    // becomes a contraction over every position of every example

    %dw = attn.compute "d w" (%d: 512, %k: 256) sum (%t: "T") { .. } {attn.batch = "sum"}
    ```
  }];
}

def StoreRows : Pass<"attn-store-rows", "::mlir::ModuleOp"> {
  let summary = "rounded rows have elements of bf16";
  let description = [{
    * In: batched programs.
    * Out: the same programs. An array whose elements are all numbers of bf16
      (`attn.rounded`, copies of such arrays, zeros) has this type, and takes two
      bytes per element. Views, concatenations and the values of a carry have one
      type, so they have it together or not at all.
    * After: `attn-batch`. Before `attn-split-decoder`, so that the programs of a
      search exchange such arrays.
    * Not: outputs of the program, which callers read in f32.

    ```mlir
    %k = attn.compute (%i: "S", %n: 64) { attn.rounded %x[%i, %n] to bf16 } : !attn.array<["S", 64], f64>

    // becomes

    %k = attn.compute (%i: "S", %n: 64) { attn.rounded %x[%i, %n] to bf16 } : !attn.array<["S", 64], bf16>
    ```
  }];
}

def SplitDecoder : Pass<"attn-split-decoder", "::mlir::ModuleOp"> {
  let summary = "a search becomes programs, and an op that says how it runs them";
  let description = [{
    * In: `@decode`, batched.
    * Out: `@encode` with all that comes before the search; `@step`, and
      `@step.1`, .. where a step makes several choices: the body up to each of
      them; `@finish`, what comes after the search. The op `attn.decoder` says
      how the runtime's search runs them. What one program reads of another has
      a name (runtime/Decoder.h).
    * After: `attn-batch`, which says what the hypotheses of an example share.
      Of several searches, and choices beside them, each gets programs of its
      own, `@later.1.encode`, ..: what one gives another is data of that.
      A loop of at most 64 choices inside a step becomes these choices. Any
      other one has segments of its own, which the search repeats as often as
      the data say; what it gives it carries (`attn.decoder.loop`). A state that
      grows along an axis that is not its first is computed anew in each step.
    * Not: loops of choices inside such loops, and marks that judge what a loop
      chose: refused.

    log p of a choice by logits is computed here, so that the runtime looks at
    it only once.

    Example:

    ```mlir
    attn.program @decode {
      ..
      %1:2 = attn.search "T" states [..] (%t) carries (%s = %0) axes [0] {
        %logits = attn.compute (%v: 97) { .. %h[%i] .. %s[%k] }
        %y = attn.choice "y" categorical ["logits"] (%logits) end 1 : i64
        ..
      }
    }

    // becomes

    attn.program @encode { .. attn.output "encode/0" %h }
    attn.program @step {
      %h = attn.data "encode/0" {attn.place = "example"}
      %s = attn.data "carry/0"
      ..
      attn.output "logp/0" %logp
    }
    ```
  }];
}

#endif // FOVEA_PASSES_BATCH_PASSES_TD
