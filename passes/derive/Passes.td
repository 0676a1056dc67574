//===- Passes.td - what training and decoding compute ------*- tablegen -*-===//
//
// The passes of the phase `derive`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_DERIVE_PASSES_TD
#define FOVEA_PASSES_DERIVE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OrderEquations : Pass<"attn-order-equations", "::mlir::ModuleOp"> {
  let summary = "in which order, and with which roundings, equations add up";
  let description = [{
    * In: systems.
    * Out: the same systems, in which every reduction has an order. A sum of
      products is a chain where each factor depends on an index of the result,
      or on the example, that the other lacks, as that of a matrix product
      does, and these indices and the terms are 8 places or more. Any other
      reduction has 16 partial results along an index of its own whose
      neighbours are read one beside the other, if no index of the result
      serves vectors better. A sum that yields a product is fused. A product
      that is an equation of its own is written into the sum that reads it.
    * First of the phase `derive`, and again before `attn-differentiate`, for
      what passes have made in between.
    * Not: what has an order; equations of derivatives (`attn-order-sums`).

    Example: the score of a query and a key.

    ```mlir
    %e = attn.compute (%t: "T", %u: "T") sum (%k: 64) { %q[%t, %k] * %key[%u, %k] }

    // becomes

    %e = attn.compute (%t: "T", %u: "T") sum (%k: 64) order(chain, fused) { %q[%t, %k] * %key[%u, %k] }
    ```
  }];
}

def ContinueRows : Pass<"attn-continue-rows", "::mlir::ModuleOp"> {
  let summary = "what decoding generates after the rows of nested data";
  let description = [{
    * In: the system `@decoding`, in which a choice of given nested data, of
      D rows, has `attn.continued`.
    * Out: the same system, in which the choice is one of a further row: of
      its words up to the end symbol, over the open length `W[D]`. The equations
      that it needs are there once more, at D in place of their index; what they
      read of rows before theirs is given.
    * After: the front end. Before: `attn-draw-latents`, as the row has latent
      choices of its own.
    * Not: rows that read all rows, or the number of them, which differ with
      the new one: refused.

    Example: a dialogue of D turns is given, and the next one generated.

    ```mlir
    attn.choice "said" categorical ["logits"] (%l : !attn.array<["D", "W", 97], f64>) observed %said : .. end 1 {attn.continued}

    // becomes

    attn.length "W[D]" open
    %next = attn.choice "said" categorical ["logits"] (%m : !attn.array<["W[D]", 97], f64>) end 1 -> !attn.array<["W[D]"], i64>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DrawLatents : Pass<"attn-draw-latents", "::mlir::ModuleOp"> {
  let summary = "equations of random numbers in the place of latent choices";
  let description = [{
    * In: the systems `@training` and `@decoding`, in which every latent choice
      says how it is treated.
    * Out: the same systems, without latent choices that have a result. Of
      `reinforce`, `straight_through`, `reparameterised`, `no_gradient` and
      `sample` there are equations of `attn.random` that draw the value; of
      `mode` that of the most probable one. Of `expected`, `gumbel` and
      `straight_through` an array that is read at the place that is chosen is
      read as a mean, with the probabilities, with the softmax of log p with
      noise, or with 1 for what is drawn and the derivative of the
      probabilities. A choice with `reinforce` stays, observed as it was drawn:
      `attn-derive-objective` makes the score of it. Of `enumerate` at several
      places, what depends on the choice gets an axis in front for its values at
      the same place, and one for those at the place before; `attn.over` says of
      choices of data which of both they have, and the latent choice stays for
      the objective, with `attn.chain`.
    * After: the front end. Before: the objective.
    * Not: gradients; how many samples there are.

    Example: `place ~ categorical(probs = p)` with `place ~ reinforce`.

    ```mlir
    %place = attn.choice "place" categorical ["probs"] (%p : ..) latent treated {kind = "reinforce"} -> ..

    // becomes

    %sums = attn.compute "cumulated.place" (%t: "T") cumsum (%k: 9) { %p[%t, %k] }
    %u = attn.compute "uniform.place" (%t: "T") { attn.random [%t] ordinal 0 word 0 }
    %place = attn.compute "place" (%t: "T") max (%k: 9) where { %p[%t, %k] > 0 and %sums[%t, %k - 1] <= %u[%t] } { %k }
    attn.choice "place" categorical ["probs"] (%p : ..) observed %place : .. latent treated {kind = "reinforce"}
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def DeriveObjective : Pass<"attn-derive-objective", "::mlir::ModuleOp"> {
  let summary = "turn observed choices and penalties into the loss of one example";
  let description = [{
    * In: the system `@training`.
    * Out: the system `@loss` in its place, without choices, penalties and
      equations. Its outputs: `nll`, the sum of -log p of every observed choice
      (with label smoothing where `attn.train` has `smooth`); `logp`, the sum of
      log p without smoothing; `choices`, the number of choices made; `penalty`,
      the sum of the penalties; with `each`, `logp/K`, log p of each element of
      the choice K; and the equations named in `get`. Without
      choices and penalties, and with an empty `get`: the equations that no
      other equation reads. Of probabilities that are a softmax or a sigmoid the
      log is taken before they are numbers, some of which would be 0. Data that
      depend on a choice with `enumerate` at several places are summed over all
      ways to choose. Where a choice is trained with candidates (`sampled`),
      `estimate.nll` and `estimate.logp` are what an update has instead.
    * After: the front end.
    * Not: batches, averages over them, gradients.

    Example:

    ```mlir
    attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 97], f64>)
        observed %y : !attn.array<["T"], i64>

    // becomes

    %0 = attn.compute "log_p.y" (%t: "T") log_softmax (%v: 97) { %l[%t, %v] }
    %1 = attn.compute "logp.y" () sum (%t: "T") { %0[%t, %y[%t]] }
    attn.output "nll" %nll      // -%1
    ```
  }];
  let options = [
    ListOption<"get", "get", "std::string", "names of equations that become outputs">,
    Option<"each", "each", "bool", "false", "log p of each element of a choice is an output, `logp/K`, too">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def RepeatSamples : Pass<"attn-repeat-samples", "::mlir::ModuleOp"> {
  let summary = "several draws of one example, of which the objective is the mean";
  let description = [{
    * In: the system `@loss`, in which `attn.samples` says how often an example
      is drawn.
    * Out: the same system. What depends on random numbers of `attn.random` has
      the axis of the draws in front, each with numbers of its own. The terms of
      the objective are means over it; of what else is an output the first draw
      is given. Of a choice with `enumerate` the axis is that of its values: log
      p is the log of the sum over them, a penalty the mean.
    * After: `attn-derive-objective`.
    * Not: dropout, which is no draw: what it drops is the same for all where it
      comes before them. After them each sample has its own, and the values of
      an enumerated choice have the same.

    Example: with three samples

    ```mlir
    %u = attn.compute "u" (%t: "T") { attn.random [%t] ordinal 0 word 0 }
    attn.output "nll" %nll      // depends on %u

    // becomes

    %u = attn.compute "u" (%draw: 3, %t: "T") { attn.random [%t] sample %draw ordinal 0 word 0 }
    %mean = attn.compute "nll" () mean (%draw: 3) { %nll[%draw] }
    attn.output "nll" %mean
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

def DeriveDecoder : Pass<"attn-derive-decoder", "::mlir::ModuleOp"> {
  let summary = "turn generated names into the outputs of the decoder";
  let description = [{
    * In: the system `@decoding`.
    * Out: the system `@decode` in its place: each generated name is an output,
      and so are the equations named in `show`. What they do not need is gone,
      with the penalties and the log p of given data. Nothing is dropped: words
      of `attn.random` are those of an evaluation without a seed.
    * After: the front end, which applied `decode { set .. }`.
    * Not: whether the generated names can be computed step by step; that is
      found by `attn-schedule`.
  }];
  let options = [
    ListOption<"show", "show", "std::string", "names of equations that become outputs">
  ];
}

def ShareArrays : Pass<"attn-share-arrays", "::mlir::ModuleOp"> {
  let summary = "equal equations become one";
  let description = [{
    * In: systems.
    * Out: the same systems, in which no two arrays are given by the same
      equation of the same arrays (up to the names of indices), and no body
      computes a scalar twice. Two arrays that both have a label keep them.
    * Not: recurrences that are equal only as wholes.

    Example: `key(h[i])`, written in two equations, is one array afterwards.
  }];
}

#endif // FOVEA_PASSES_DERIVE_PASSES_TD
