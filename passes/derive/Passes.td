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
      The terms of a sum over earlier places, `sum[j,k where j < i]`, become an
      equation for each place, as a step of decoding adds them as one number.
    * In a module with `attn.sums = array<i64: 1>`, large products with
      parameters in `@loss` and `@decode` round their factors
      (dialect/RoundedFactors.h): at least 16 terms, and 16 results along
      indices that only the parameter has.
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
      its words up to the end symbol, over the open length `W[D]`, and still has
      the attribute. The equations
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
    %next = attn.choice "said" categorical ["logits"] (%m : !attn.array<["W[D]", 97], f64>) end 1 -> !attn.array<["W[D]"], i64> {attn.continued}
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
      the choice K; the equations named in `get`; and with `updates`, the new
      values of states, `update/..` and `update.once/..`. Without
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
    Option<"each", "each", "bool", "false", "log p of each element of a choice is an output, `logp/K`, too">,
    Option<"updates", "updates", "bool", "false", "the new values of states are outputs, too">
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
      with the penalties and the log p of given data. For generated real numbers
      `x`, the output `logp/x` is the log of their densities, by the equations
      of the objective.
    * After: the front end, which applied `decode { set .. }`.
    * Not: whether the generated names can be computed step by step; that is
      found by `attn-schedule`.
  }];
  let options = [
    ListOption<"show", "show", "std::string", "names of equations that become outputs">
  ];
}

def FoldConstants : Pass<"attn-fold-constants", "::mlir::ModuleOp"> {
  let summary = "arithmetic on constants is done once, by no libm";
  let description = [{
    * In: systems.
    * Out: the same systems, canonical, in which arithmetic on constants is a
      constant, in f64. Branches that a constant decides are taken.
    * After all that sets constants (`--set`), so that no later pass sees them.
    * Not: functions whose bits depend on the libm of the machine that compiles:
      all but roots, absolute values and roundings. Compiled code has formulas
      of its own for them.

    Example:

    ```mlir
    %0 = math.log %two : f64
    %1 = arith.addf %two, %two : f64

    // becomes

    %0 = math.log %two : f64
    %1 = arith.constant 4.0 : f64
    ```
  }];
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

def SplitConcat : Pass<"attn-split-concat", "::mlir::ModuleOp"> {
  let summary = "split sums over a concatenation into one sum per part";
  let description = [{
    * In: systems.
    * Out: the same systems; where a `sum` reads a concatenation at its
      reduction index, there is one sum per part and an op that adds them. So
      a parameter over `y ++ c` stays one array, but what it multiplies `y`
      with need not wait for `c`.
    * Before `attn-differentiate`, which then finds no concatenation, and
      `attn-schedule`, which takes a part that does not change out of a loop.
    * Not: concatenations that are read at any other index, or reduced by
      anything but `sum`.

    Example: `W (y ++ c)` with 3 and 2 columns.

    ```mlir
    %h = attn.concat %y, %c : .. -> !attn.array<["T", 5], f64>
    %z = attn.compute "z" (%t: "T", %j: 4) sum (%k: 5) { .. %w[%j, %k] * %h[%t, %k] }

    // becomes

    %0 = attn.compute "z" (%t: "T", %j: 4) sum (%k: 3) { .. %w[%j, %k] * %y[%t, %k] }
    %1 = attn.compute "z" (%t: "T", %j: 4) sum (%k: 2) { .. %w[%j, %k + 3] * %c[%t, %k] }
    %z = attn.compute "z" (%t: "T", %j: 4) { %0[%t, %j] + %1[%t, %j] }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DropIndices : Pass<"attn-drop-indices", "::mlir::ModuleOp"> {
  let summary = "what is the same at all places of an index is computed once";
  let description = [{
    * In: systems.
    * Out: the same systems, in which no array that is only read has an index
      that its equation does not look at. With `of-one` none has an index of one
      place instead. Parameters and data lose axes of one place, as weights of
      convolutions and batches of one have them. An output that is a sum is a
      view of one without these.
    * After `attn-split-concat`, which takes apart what stands still from what
      does not. Before `attn-differentiate`: the adjoint then is added up over
      the index before it goes on. With `of-one` after `attn-inherit-support`.
    * What is asked for beside the objective does not count: it gets a copy
      with all indices.
    * Not: other outputs, indices of one place in recurrences that read beyond
      that place, where they tell what is before what, parts of concatenations,
      arrays that are read with cases or outside of their extents, and indices
      along which a length varies.

    Example: the part of `W (q[t] ++ h[i])` that stands still while i moves.

    ```mlir
    %p = attn.compute (%t: "T", %i: "S", %a: 8) sum (%k: 4) { %w[%a, %k] * %q[%t, %k] }
    %s = attn.compute (%t: "T", %i: "S", %a: 8) { %p[%t, %i, %a] + %u[%i, %a] }

    // becomes

    %p = attn.compute (%t: "T", %a: 8) sum (%k: 4) { %w[%a, %k] * %q[%t, %k] }
    %s = attn.compute (%t: "T", %i: "S", %a: 8) { %p[%t, %a] + %u[%i, %a] }
    ```
  }];
  let options = [
    Option<"ofOne", "of-one", "bool", "false",
           "indices and axes of one place, and no others">
  ];
}

def GatherRows : Pass<"attn-gather-rows", "::mlir::ModuleOp"> {
  let summary = "rows that are read at computed places become arrays";
  let description = [{
    * In: systems.
    * Out: the same systems, in which a sum that reads a row at a place that
      another array gives, `emb[word[t], k]`, and reads it again for each place
      of an index of its own, reads an array of these rows.
    * After `attn-drop-indices`. Before `attn-differentiate`: the sum then is a
      matrix product, its adjoint is one, and a row of the table gets what the
      places with its word get, instead of a product of its own for each word.
    * Not: sums with a condition, reads in branches or with boundary places,
      rows along an index with a length that varies, and what would be an array
      over two lengths.

    Example: `W emb[word[t]]`.

    ```mlir
    %z = attn.compute (%t: "T", %d: 8) sum (%k: 4) { %w[%d, %k] * %emb[%word[%t], %k] }

    // becomes

    %x = attn.compute (%t: "T", %k: 4) { %emb[%word[%t], %k] }
    %z = attn.compute (%t: "T", %d: 8) sum (%k: 4) { %w[%d, %k] * %x[%t, %k] }
    ```
  }];
}

def Inline : Pass<"attn-inline", "::mlir::ModuleOp"> {
  let summary = "evaluate elementwise equations where they are read";
  let description = [{
    * In: systems.
    * Out: the same systems without some of their elementwise computes, which
      stand in the bodies of their readers. With `mode=expansions`: those that
      have more indices than any array that they read, as `tanh(q[t,a] +
      k[i,a])`, so that no array of order T x S x A exists. With `mode=all`
      also those whose only reader runs over as many indices.
    * Anywhere before `attn-schedule`, also after `attn-differentiate`: the
      adjoint of an expansion is one.
    * What is asked for beside the objective does not count: it reads the array,
      which stays for it.
    * Not: recurrences; what is another output or an alternative of a read. A
      reader that has indices beyond those of the producer would evaluate it
      again and again: it gets an expansion only where it sums away an order
      that the expansion adds.

    Example: with `%q` and `%k` of two axes,

    ```mlir
    %u = attn.compute (%t: "T", %i: "S", %a: 4) { .. tanh(%q[%t, %a] + %k[%i, %a]) }
    %e = attn.compute (%t: "T", %i: "S") sum (%a: 4) { .. %v[%a] * %u[%t, %i, %a] }

    // becomes

    %e = attn.compute (%t: "T", %i: "S") sum (%a: 4) { .. %v[%a] * tanh(%q[%t, %a] + %k[%i, %a]) }
    ```
  }];
  let options = [
    Option<"mode", "mode", "InlineMode", "InlineMode::expansions",
           "Which producers are inlined", [{::llvm::cl::values(
      clEnumValN(InlineMode::expansions, "expansions",
                 "those that have more indices than any array they read"),
      clEnumValN(InlineMode::all, "all",
                 "also those with one reader of as many indices"))}]>
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

def InheritSupport : Pass<"attn-inherit-support", "::mlir::ModuleOp"> {
  let summary = "let a sum skip what its weights exclude";
  let description = [{
    * In: systems.
    * Out: the same systems; a `sum` whose body is a product with an element of
      an array that is zero outside its condition, or with one of a copy or a
      multiple of it, as of dropout, has this condition too. So has a sum with
      a factor that a branch makes zero, `if u <= t then s[t,u] else 0`, in its
      body or in an equation that it reads. A `softmax` has the condition of a
      branch that makes its score, or an addend of it, minus infinity. An
      `any` has the parts of a conjunction that it looks for. Users
      write `softmax[u where u <= t]` and then `sum[u](a[t,u] * v[u])`: right
      in training, but a read of the future in decoding.
    * After `attn-inline`, which brings a product into its sum; before
      `attn-schedule`, which bounds what is read by conditions.
    * Not: the part of a condition that reads arrays; arrays read at other
      places than the sum's own indices; weights that do not multiply all of
      the body.

    ```mlir
    %a = attn.compute "a" (%t: "T") softmax (%u: "T") where { %u <= %t } { .. }
    %c = attn.compute "c" (%t: "T") sum (%u: "T") { .. %a[%t, %u] * %v[%u] }

    // becomes

    %c = attn.compute "c" (%t: "T") sum (%u: "T") where { %u <= %t } { .. %a[%t, %u] * %v[%u] }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def OrderFactors : Pass<"attn-order-factors", "::mlir::ModuleOp"> {
  let summary = "a sum of several factors becomes the cheapest sequence of sums";
  let description = [{
    * In: systems.
    * Out: the same systems, in which a sum of a product of several factors is
      a sequence of equations, each of which multiplies two factors or earlier
      results, and adds up what nothing else needs. Of all such orders it is the
      one with the least multiply-adds, where those of a matrix product cost a
      quarter of those of a loop, an element of an intermediate costs as much as
      one of a loop, and a length counts as 64. An outer product that a factor
      reads counts as its own factors. Several indices that are the last of
      both arrays, as of `x[t,i] * y[t,j]` and `w[k,i,j]`, become one, by views.
    * After `attn-inline`, which brings a product into its sum, and
      `attn-inherit-support`: an index is not summed up before all indices of
      its conditions have met. Before `attn-differentiate`: the adjoints of a
      step are as cheap as the step.
    * Not: sums that are not twice as expensive as their best order, sums over
      lengths that vary inside an example or with conditions that find a place
      (`token[t] == w`), products of more than 7 factors, and intermediates of
      more than 2^20 elements, unless a factor has as many.

    Example: what DRAW reads from an image.

    ```mlir
    %n = attn.compute (%j: 12, %i: 12) sum (%y: "Y", %x: "X") { %fy[%j, %y] * %image[%y, %x] * %fx[%i, %x] }

    // becomes

    %p = attn.compute (%j: 12, %x: "X") sum (%y: "Y") { %fy[%j, %y] * %image[%y, %x] }
    %n = attn.compute (%j: 12, %i: 12) sum (%x: "X") { %p[%j, %x] * %fx[%i, %x] }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RemoveDropout : Pass<"attn-remove-dropout", "::mlir::ModuleOp"> {
  let summary = "decoding drops nothing";
  let description = [{
    * In: the system `@decode`.
    * Out: the same system, in which words of `attn.random` are those of an
      evaluation without a seed, and what only copies an array is gone.
    * After all passes that define orders: dropout is part of the equations from
      which orders follow, in training and in decoding. Before
      `attn-differentiate`.
    * Not: draws, which are random without a seed as well.

    Example:

    ```mlir
    %word = attn.random [%t] ordinal 3 word 0 : i64
    %isDropped = arith.cmpi slt, %word, %limit : i64
    %factor = arith.select %isDropped, %zero, %kept : f64
    %y = arith.mulf %x, %factor : f64

    // becomes

    %y = %x
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def QuantiseProducts : Pass<"attn-quantise-products", "::mlir::ModuleOp"> {
  let summary = "products with weights in few bits, which have a scale for each column";
  let description = [{
    * In: the systems `@loss` and `@decode`.
    * Out: the same systems, in which the factors of products with weights are
      whole numbers from -127 to 127, times a scale. Weights have a scale for
      each column: the parameters `w:int8.1` and `w:scale.1` replace `w`, whose
      axis 1 is added up (runtime/data/Quantise.h computes them). What they are
      multiplied with has a scale for each row: its largest magnitude divided
      by 127. The quotients are rounded to the nearest whole number, ties to
      even. A row of zeros has the scale 0; a row with an infinity or NaN has
      the scale NaN. The sum of up to 1024 terms is exact in f32, in any order;
      longer sums are split into such parts, which are added in order. Lookups
      in tables of parameters are quantised by row in the same way.
    * `weights` names a format of runtime/data/StorageFormat.h with scales of
      columns. If its numbers are rounded, and not whole, only weights are
      quantised: `attn.precision` of the parameter says so, the sum keeps its
      order and its other factor, and is multiplied with the scale of the column.
    * Last in the phase `derive`: only products with `order(chain, fused)` are
      rewritten, so training and decoding have the same equations.
    * Not: products of two arrays of an example (attention), convolutions, and
      parameters that are computed from others.

    Example: the logits.

    ```mlir
    %y = attn.compute (%t: "T", %n: 97) sum (%k: 64) order(chain, fused) { %h[%t, %k] * %w[%n, %k] }

    // becomes

    %wInt8 = attn.param "w:int8.1"
    %wScale = attn.param "w:scale.1"
    %m = attn.compute (%t: "T") max (%k: 64) { |%h[%t, %k]| }
    %s = attn.compute (%t: "T") { %m[%t] / 127 + (%m[%t] / 127 - %m[%t] / 127) }
    %q = attn.compute (%t: "T", %k: 64) { 0 < %s[%t] ? round(%h[%t, %k] / %s[%t]) : 0 }
    %p = attn.compute (%t: "T", %n: 97) sum (%k: 64) order(chain, fused) { %q[%t, %k] * %wInt8[%n, %k] } {attn.precision = i8}
    %y = attn.compute (%t: "T", %n: 97) { (%s[%t] * %wScale[%n]) * %p[%t, %n] }
    ```
  }];
  let options = [
    Option<"weights", "weights", "std::string", [{"int8"}],
           "the format of the weights">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def RoundWeights : Pass<"attn-round-weights", "::mlir::ModuleOp"> {
  let summary = "weights are numbers of few bits";
  let description = [{
    * In: the systems `@loss` and `@decode`.
    * Out: the same systems, in which `w:bf16` replaces each parameter `w` of
      two or more axes: the nearest number of bf16, of two the even one
      (runtime/data/Quantise.h). `attn.precision = bf16` says so. Every
      equation that reads it computes as before.
    * `weights` names a format of runtime/data/StorageFormat.h without scales of
      columns. With `weights=int4`: `w:int4.64` instead, where 64 is the extent
      of the last axis. Each 32 weights along it are multiples of one scale.
      `attn.precision = i4` says so.
    * Last in the phase `derive`.
    * Not: biases and gains, which have one axis.

    ```mlir
    %w = attn.param "w" : !attn.array<[97, 64], f64>

    // becomes

    %w = attn.param "w:bf16" {attn.precision = bf16} : !attn.array<[97, 64], f64>
    ```
  }];
  let options = [
    Option<"weights", "weights", "std::string", [{"bf16"}],
           "the format of the weights">
  ];
}

def RoundRows : Pass<"attn-round-rows", "::mlir::ModuleOp"> {
  let summary = "rows that places of another length read are rounded to bf16";
  let description = [{
    * In: the systems `@loss` and `@decode`.
    * Out: the same systems. An equation over two lengths that reads an array
      over one of them reads `attn.rounded` of its elements instead: it reads
      each row again for every place of the other length, as attention reads
      keys and values, and a decoder keeps these rows. The array has one length
      and at least 16 numbers for each of its places.
    * The choice depends on the reading equation, as written. So training,
      scoring and decoding round the same numbers.
    * Last in the phase `derive`: a step of a decoder has one length less.
    * Not: other readers of the array, such as its own recurrence. They read f32.

    ```mlir
    %e = attn.compute (%t: "T", %i: "S") sum (%n: 64) { %q[%t, %n] * %k[%i, %n] }

    // becomes

    %q16 = attn.compute (%t: "T", %n: 64) { attn.rounded %q[%t, %n] to bf16 }
    %k16 = attn.compute (%i: "S", %n: 64) { attn.rounded %k[%i, %n] to bf16 }
    %e = attn.compute (%t: "T", %i: "S") sum (%n: 64) { %q16[%t, %n] * %k16[%i, %n] }
    ```
  }];
}

#endif // FOVEA_PASSES_DERIVE_PASSES_TD
