//===- Passes.td - every pass of the compiler --------------*- tablegen -*-===//
//
// In the order of passes/Pipeline.cpp. A description answers, in this order:
// what goes in, what comes out, what must have run before, one example.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_PASSES_TD
#define FOVEA_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// derive
//===----------------------------------------------------------------------===//

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
      log is taken before they are numbers, some of which would be 0.
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

def DeriveDecoder : Pass<"attn-derive-decoder", "::mlir::ModuleOp"> {
  let summary = "turn generated names into the outputs of the decoder";
  let description = [{
    * In: the system `@decoding`.
    * Out: the system `@decode` in its place: each generated name is an output,
      and so are the equations named in `show`. What they do not need is gone,
      with the penalties and the log p of given data.
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

//===----------------------------------------------------------------------===//
// differentiate
//===----------------------------------------------------------------------===//

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
      that its equation does not look at.
    * After `attn-split-concat`, which takes apart what stands still from what
      does not. Before `attn-differentiate`: the adjoint then is added up over
      the index before it goes on.
    * Not: outputs, parts of concatenations, arrays that are read with cases or
      outside of their extents, and indices along which a length varies.

    Example: the part of `W (q[t] ++ h[i])` that stands still while i moves.

    ```mlir
    %p = attn.compute (%t: "T", %i: "S", %a: 8) sum (%k: 4) { %w[%a, %k] * %q[%t, %k] }
    %s = attn.compute (%t: "T", %i: "S", %a: 8) { %p[%t, %i, %a] + %u[%i, %a] }

    // becomes

    %p = attn.compute (%t: "T", %a: 8) sum (%k: 4) { %w[%a, %k] * %q[%t, %k] }
    %s = attn.compute (%t: "T", %i: "S", %a: 8) { %p[%t, %a] + %u[%i, %a] }
    ```
  }];
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
    * Anywhere before `attn-schedule`, also behind `attn-differentiate`: the
      adjoint of an expansion is one.
    * Not: recurrences; what is an output or an alternative of a read. A
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
      an array that is zero outside its condition has this condition too. Users
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

def GuardEquations : Pass<"attn-guard-equations", "::mlir::ModuleOp"> {
  let summary = "let guards go with what they guard";
  let description = [{
    * In: a module with the system `@loss`.
    * Out: the same; an equation that divides, or takes a logarithm, a root, a
      power or an exponential, and that all its readers look at only under
      conditions, is 0 where none of them holds. "Readers" are those of its
      readers, too; where a reader has an index more, some place of it has to
      look. So what is built on it is finite everywhere, and so are all
      derivatives: the adjoint of what nobody looks at is 0, and 0 times an
      infinite derivative is no number.
    * Before `attn-differentiate`, which repeats the conditions of an equation
      in its adjoint.
    * Not: equations that a condition reads, or what an output is made of, as
      that is everywhere (an equation that is an output itself is made twice); a
      recurrence whose guard would have to be known before itself.

    Example: `b[t] = if x[t] != 0 then w / x[t] else 0`.

    ```mlir
    %q = attn.compute (%t: "T") { .. %w[] / %x[%t] }
    %b = attn.compute "b" (%t: "T") { scf.if (%x[%t] != 0) { %q[%t] } else { 0 } }

    // becomes

    %ok = attn.compute (%t: "T") { %x[%t] != 0 }
    %q = attn.compute (%t: "T") where { %ok[%t] } { .. %w[] / %x[%t] }
    %b = attn.compute "b" (%t: "T") { scf.if (%x[%t] != 0) { %q[%t] } else { 0 } }
    ```
  }];
  let dependentDialects = [
    "::fovea::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def Differentiate : Pass<"attn-differentiate", "::mlir::ModuleOp"> {
  let summary = "add the equations of the gradients";
  let description = [{
    * In: a module with the system `@loss`, whose outputs `nll` and `penalty`
      are single numbers.
    * Out: also the system `@grad`: `@loss` with the inputs `seed.nll` and
      `seed.penalty` and an output `grad/<path>` for each parameter, which is
      linear in the seeds. A parameter that the objective does not depend on
      has a gradient of zeros.
    * Before `attn-schedule`: the adjoint of a system of equations is a system
      of equations, and a recurrence read at `t-1` is one read at `t+1`. No
      rule of differentiation ever sees a loop.
    * Not: what is not of f64 carries nothing, and neither do conditions.

    Example: `s[t] = w * s[t-1]`.

    ```mlir
    %s = attn.compute "s" (%t: "T") {
      %0 = attn.read %s[%before] cases [[[0, -1]]] (%init : ..) : ..
      %1 = attn.read %w[] : !attn.array<[], f64>
      ..

    // gets, with the adjoint %ds of %s,

    %0 = attn.compute "d s" (%t: "T") where { .. t + 1 < T } {
      %1 = attn.read %ds[%next] : !attn.array<["T"], f64>
      %2 = attn.read %w[] : !attn.array<[], f64>
      %3 = arith.mulf %1, %2 : f64
      attn.yield %3 : f64
    } : !attn.array<["T"], f64>
    ```
  }];
  let dependentDialects = [
    "::fovea::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"
  ];
}

def DropStops : Pass<"attn-drop-stops", "::mlir::ModuleOp"> {
  let summary = "take out the marks through which no adjoint flows";
  let description = [{
    * In: systems.
    * Out: the same systems without `attn.stop`; an equation without a name that
      only was such a mark is gone, and its readers read what it read.
    * After `attn-differentiate`: until then the mark keeps an equation with it
      apart from one without. Before `attn-share-arrays`, which then finds both
      equal.
    * Not: an equation that has a name of its own stays, as a copy.

    ```mlir
    %1 = attn.stop %0 : f64
    %2 = arith.mulf %1, %0 : f64

    // becomes

    %2 = arith.mulf %0, %0 : f64
    ```
  }];
}

//===----------------------------------------------------------------------===//
// schedule
//===----------------------------------------------------------------------===//

def Schedule : Pass<"attn-schedule", "::mlir::ModuleOp"> {
  let summary = "find an order of the equations: scans, searches, whole arrays";
  let description = [{
    * In: systems.
    * Out: a program of the same name for each. Equations that need each other
      share an `attn.scan` along an index of which they read one side only; all
      others are one op over all their indices, before or behind the loops. In
      a system with generated names (`attn.choice` with a result) their index
      is an `attn.search`; what does not depend on them stands before it. What
      no output, choice or mark needs is gone.
    * After: `attn-differentiate`, which needs equations; `attn-inherit-support`,
      without which a weighted sum over the past reads the future.
    * Errors: equations that no order computes, and generated names that need
      what is not generated yet; each names the equations and their lines.
    * Not: fusion, inlining, the split of contractions; what an equation reads
      is what it is ordered by.

    Allen and Kennedy (1987), Automatic Translation of Fortran Programs to
    Vector Form.

    Example: `s[t] = x[t] + s[t-1]` with `s[-1] = init`.

    ```mlir
    %s = attn.compute "s" (%t: "T") {
      %0 = attn.read %s[%before] cases [[[0, -1]]] (%init : ..) : ..

    // becomes

    %last, %s = attn.scan "T" (%step) carries (%carry = %init : ..) axes [0] {
      %next = attn.compute "s" () {
        %0 = attn.read %carry[] : !attn.array<[], f64>
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "print why a loop is a loop, what is parallel, and what is state">
  ];
  let dependentDialects = [
    "::fovea::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"
  ];
}

//===----------------------------------------------------------------------===//
// batch
//===----------------------------------------------------------------------===//

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

def SplitDecoder : Pass<"attn-split-decoder", "::mlir::ModuleOp"> {
  let summary = "a search becomes programs, and a description of what is between";
  let description = [{
    * In: `@decode`, batched.
    * Out: `@encode` with all that stands before the search; `@step`, and
      `@step.1`, .. where a step makes several choices: the body up to each of
      them; `@finish`, what stands behind the search. The attribute
      `attn.decoder` of the module says what the runtime's search does between
      them. What one program reads of another has a name (runtime/Decoder.h).
    * After: `attn-batch`, which says what the hypotheses of an example share.
      Of several searches, and choices beside them, each gets programs of its
      own, `@later.1.encode`, ..: what one gives another is data of that.
      Loops of choices inside a step become these choices; a state that grows
      along an axis that is not its first is computed anew in each step.
    * Not: loops of choices whose number is not fixed, or over 64: refused.

    log p of a choice by logits is computed here, so that the runtime looks at
    it only once. Nothing is dropped in decoding: `attn.dropout` is gone.

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

//===----------------------------------------------------------------------===//
// fuse
//===----------------------------------------------------------------------===//

def TakeBranches : Pass<"attn-take-branches", "::mlir::ModuleOp"> {
  let summary = "a branch that the condition of its equation decides is taken";
  let description = [{
    * In: programs.
    * Out: the same programs, in which no body of an `attn.compute` asks again
      what its condition says of two of its indices.
    * After: `attn-batch`.
    * Not: conditions that are no comparison of two indices, and branches that
      are never taken.

    Example:

    ```mlir
    attn.compute (%t: "T", %k: 8) sum (%u: "T") where { %u <= %t } {
      %0 = scf.if (%u <= %t) { .. scf.yield %1 } else { scf.yield %zero }
      attn.yield %0

    // becomes
    attn.compute (%t: "T", %k: 8) sum (%u: "T") where { %u <= %t } { .. attn.yield %1
    ```
  }];
}

def TrimScans : Pass<"attn-trim-scans", "::mlir::ModuleOp"> {
  let summary = "each row of a recurrence is kept once, or not at all";
  let description = [{
    * In: programs.
    * Out: the same programs, in which no `attn.scan` gives the same rows twice
      or rows that nobody reads.
    * After: `attn-schedule`.
    * Not: carries, and rows at different axes of their arrays.

    Example:

    ```mlir
    %last, %a, %b = attn.scan "T" (%t) carries (..) axes [0, 0] { .. attn.yield %next, %row, %row }

    // becomes

    %last, %a = attn.scan "T" (%t) carries (..) axes [0] { .. attn.yield %next, %row }
    ```
  }];
}

def PadWindows : Pass<"attn-pad-windows", "::mlir::ModuleOp"> {
  let summary = "convolutions read arrays that are long enough";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which a sum of products over a window (an index
      of the result plus or minus one of the sum) reads an array that is padded
      with what stands outside, and has the places of the windows as its last
      index: neighbours then read neighbours, and no term asks where it is.
    * After: `attn-batch`.
    * Not: windows of fewer than eight places, or along a length that varies
      inside of an example; windows that run backwards along the result; reads
      that stand inside anyway.

    Example:

    ```mlir
    %y = attn.compute (%i: "S", %k: 10) sum (%r: 201) { %w[%k, %r] * %x[%i + %r - 100] default 0 }

    // becomes
    %padded = attn.compute (%j: "S+200") { %x[%j - 100] default 0 }
    %sum = attn.compute (%k: 10, %i: "S") sum (%r: 201) { %w[%k, %r] * %padded[%i + %r] }
    %y = attn.compute (%i: "S", %k: 10) { %sum[%k, %i] }
    ```
  }];
}

def FactorProducts : Pass<"attn-factor-products", "::mlir::ModuleOp"> {
  let summary = "the matrix product inside a sum over shifted places";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which a sum over terms and over shifted places
      (the adjoint of a convolution) is the product over the terms, at every
      place once, and the sum of what the shifts find.
    * After: `attn-batch`.
    * Not: sums with a boundary case or with few terms or shifts, and sums whose
      condition speaks of the terms.

    Example:

    ```mlir
    %dx = attn.compute (%i: "S") sum (%k: 16, %r: 201) where { 0 <= %i - %r }
            { %g[%i - %r, %k] * %w[%k, %r] }

    // becomes

    %p = attn.compute (%j: "S", %r: 201) sum (%k: 16) { %g[%j, %k] * %w[%k, %r] }
    %dx = attn.compute (%i: "S") sum (%r: 201) where { 0 <= %i - %r } { %p[%i - %r, %r] }
    ```
  }];
}

def FuseElementwise : Pass<"attn-fuse-elementwise", "::mlir::ModuleOp"> {
  let summary = "chains of elementwise equations become one";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which an elementwise equation that one other
      reads, once and element by element, is computed inside of it, as is one
      of which each reader takes a part of its own, and arrays that only copy
      another are gone.
    * After: `attn-batch`.
    * Not: what is read twice, or by a larger equation: nothing is computed more
      often than before, but for a part that is cheaper than a read of it. The
      factors of matrix products stay arrays.

    Example:

    ```mlir
    %gate = attn.compute (%k: 512) { %x[%k] + %y[%k] }
    %z = attn.compute (%k: 512) { sigmoid(%gate[%k]) }

    // becomes

    %z = attn.compute (%k: 512) { sigmoid(%x[%k] + %y[%k]) }
    ```
  }];
}

def CarrySums : Pass<"attn-carry-sums", "::mlir::ModuleOp"> {
  let summary = "sums over the steps are added up step by step";
  let description = [{
    * In: batched programs.
    * Out: the same programs. Sums over the steps of an `attn.scan` that are the
      only readers of large rows behind it, or read large rows of an earlier one
      that it reads as well, are carries of it: each step adds what its row
      gives. Large is a row with a length of its own and more (T x S x A).
    * After: `attn-batch`, `attn-fuse-elementwise`. What nobody reads behind it
      is left to `attn-trim-scans`.
    * Not: sums with a condition, that are larger than a row, or that read rows
      of the scan at other steps.

    Example:

    ```mlir
    %rows = attn.scan "T" (%t) .. axes [0] { .. attn.yield %row }
    %dk = attn.compute (%i: "S", %a: 8) sum (%t: "T") { %rows[%t, %i, %a] }

    // becomes

    %zero = attn.compute (%i: "S", %a: 8) { 0 }
    %dk, %rows = attn.scan "T" (%t) carries (%before = %zero ..) axes [0] {
      %next = attn.compute (%i: "S", %a: 8) { %before[%i, %a] + %row[%i, %a] }
      attn.yield %next, %row
    }
    ```
  }];
}

def RecomputeRows : Pass<"attn-recompute-rows", "::mlir::ModuleOp"> {
  let summary = "large rows are computed again where they are read";
  let description = [{
    * In: batched programs.
    * Out: the same programs. A large row (T x S x A) of an `attn.scan` that one
      later scan alone reads, each step its own, is computed by that scan, in the
      same order of operations, where it is a little arithmetic on arrays that
      are there, on rows that are kept anyway and on rows without a length, which
      are kept for it. That may be sums over up to 16 terms and two functions.
    * After: `attn-batch`, `attn-carry-sums`. What nobody reads behind it is left
      to `attn-trim-scans`.
    * Not: rows that take a carry, a condition or a long sum.

    Example:

    ```mlir
    %q, %e = attn.scan "T" (%t) .. { %row = attn.compute (%i: "S", %a: 8) { tanh(%q[%a] + %k[%i, %a]) } .. attn.yield %row }
    %d = attn.scan "T" reverse (%t) .. { .. %row[%t, %i, %a] .. }

    // becomes

    %d = attn.scan "T" reverse (%t) .. {
      %row = attn.compute (%i: "S", %a: 8) { tanh(%q[%t, %a] + %k[%i, %a]) }
      .. %row[%i, %a] ..
    ```
  }];
}

def NarrowScans : Pass<"attn-narrow-scans", "::mlir::ModuleOp"> {
  let summary = "recurrences keep no more of a row than its readers need";
  let description = [{
    * In: batched programs.
    * Out: the same programs. Of a row of an `attn.scan` that all readers behind
      it read at the same place of an axis, that place is kept alone. A row that
      is sums and products of other rows that are kept, of parameters or of
      arrays that are there anyway is computed by its readers, in the same order
      of operations.
    * After: `attn-batch`, `attn-fuse-elementwise`. What nobody reads behind it
      is left to `attn-trim-scans`.
    * Not: rows that are carried, that are read with `cases` or as a whole, that
      sums read, or that take a division or a function.

    Example:

    ```mlir
    %z, %rest = attn.scan "T" (%t) .. { %rest = attn.compute (%k: 8) { 1 - %z[%k] } .. attn.yield %z, %rest }
    %d = attn.compute (%t: "T", %k: 8) { %g[%t, %k] * %rest[%t, %k] }

    // becomes

    %d = attn.compute (%t: "T", %k: 8) { %g[%t, %k] * (1 - %z[%t, %k]) }
    ```
  }];
}

def ExposeProducts : Pass<"attn-expose-products", "::mlir::ModuleOp"> {
  let summary = "factors that are shifted or have boundary places become arrays";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which both factors of a sum of products over
      the examples are plain reads of whole rows, so that the sum is one matrix
      product. A factor that is none, `s[t-1,k]` with a boundary, becomes an
      array of its own.
    * After: `attn-batch`.
    * Not: sums whose factors have no row of neighbouring elements, and sums
      that every example has for itself: an array would cost more than it gives.

    Example:

    ```mlir
    %dw = attn.compute (%d: 512, %k: 512) sum (%t: "T") { %g[%t, %d] * %s[%t - 1, %k] } {attn.batch = "sum"}

    // becomes

    %before = attn.compute (%t: "T", %k: 512) { %s[%t - 1, %k] } {attn.batch = "each"}
    %dw = attn.compute (%d: 512, %k: 512) sum (%t: "T") { %g[%t, %d] * %before[%t, %k] } {attn.batch = "sum"}
    ```
  }];
}

def JoinSums : Pass<"attn-join-sums", "::mlir::ModuleOp"> {
  let summary = "sums that evaluate the same function stand together";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which two sums that evaluate the same costly
      function (tanh, exp, ..) at the same places have the same indices and stand
      one behind the other, so that one loop computes both. The one that adds up
      more, over other indices or over the examples, becomes a sum with the
      indices of the other one, and the sum of what that gives.
    * After: `attn-batch`, `attn-fuse-elementwise`.
    * Not: sums in loops, sums of which one needs the other, sums with different
      conditions or with one that finds a place (`token[t] == w`), sums over less
      than four places, and functions in branches.

    Example: the adjoints of `k` and `v` in `v[a] * tanh(q[t,a] + k[i,a])`.

    ```mlir
    %dk = attn.compute (%i: "S", %a: 8) sum (%t: "T") { %g[%t, %i] * %v[%a] * (1 - tanh(..)^2) } {attn.batch = "each"}
    %dv = attn.compute (%a: 8) sum (%t: "T", %i: "S") { %g[%t, %i] * tanh(..) } {attn.batch = "sum"}

    // becomes

    %dk = attn.compute (%i: "S", %a: 8) sum (%t: "T") { %g[%t, %i] * %v[%a] * (1 - tanh(..)^2) } {attn.batch = "each"}
    %0 = attn.compute (%i: "S", %a: 8) sum (%t: "T") { %g[%t, %i] * tanh(..) } {attn.batch = "each"}
    %dv = attn.compute (%a: 8) sum (%i: "S") { %0[%i, %a] } {attn.batch = "sum"}
    ```
  }];
}

def NameProducts : Pass<"attn-name-products", "::mlir::ModuleOp"> {
  let summary = "which equations are matrix products";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which equations that are computed as matrix
      products have the attribute `attn.product`, an `#attn.product` that says
      which part each index has and what is multiplied at once.
    * After: all that changes equations.
    * Not: products with less than 8 columns or terms (`each`: rows, columns or
      terms; a length counts as long), bodies that are more than two factors,
      and factors whose places are no index plus a number. Conditions that say
      which columns count, or that rows and columns are near one another, are
      part of the product; with any other condition an equation is none.

    Example: a layer, whose weights the batch has once.

    ```mlir
    %h = attn.compute (%i: "S", %n: 64) sum (%k: 32) { %x[%i, %k] * %w[%n, %k] } {attn.batch = "each"}

    // becomes

    %h = attn.compute (%i: "S", %n: 64) sum (%k: 32) { %x[%i, %k] * %w[%n, %k] }
      {attn.batch = "each", attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>}
    ```
  }];
}

def FormStrips : Pass<"attn-form-strips", "ProgramOp"> {
  let summary = "equations over the same rows are computed strip by strip";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which the scores of attention, their softmax,
      what is read with it and the adjoints of all that are a kernel in strips:
      equations behind a product that gives an array of pairs (rows and keys),
      or behind a score with a softmax, or behind a product with weights, as
      far as they read its rows at their own place. A sum over the examples that
      adds up the rows becomes the sum of what each example gives.
    * After: `attn-name-products`.
    * Not: groups in which no array of pairs is read by members alone, as all
      would be in memory anyway; rows over a length that varies inside of an
      example; equations in loops.

    Example: attention, of which only `%c` is in memory.

    ```mlir
    %e = attn.compute (%t: "T", %u: "S") sum (%k: 64) { %q[%t, %k] * %key[%u, %k] } {attn.product = ..}
    %w = attn.compute (%t: "T") softmax (%u: "S") { %e[%t, %u] }
    %c = attn.compute (%t: "T", %k: 64) sum (%u: "S") { %w[%t, %u] * %value[%u, %k] } {attn.product = ..}

    // becomes

    %c = attn.kernel strips over "T" {
      %e = attn.compute .. {attn.shared = array<i64: 0>}
      %w = attn.compute .. {attn.shared = array<i64: 0>}
      %own = attn.compute .. {attn.shared = array<i64: 0>}
      attn.yield %own
    }
    ```
  }];
}

def FormEpilogues : Pass<"attn-form-epilogues", "ProgramOp"> {
  let summary = "equations are computed with the products that they read";
  let description = [{
    * In: a batched program whose products are named.
    * Out: the same program, in which equations over one index that read
      products with weights at their own place are a kernel in columns with
      these products: the gates of a recurrence and its next state.
    * After: `attn-form-strips`, whose members stay where they are.
    * Not: products that anybody else reads, as their sums have to be in memory;
      equations whose width is no whole number of the machine's vectors
      (`#attn.machine`), or that have no vectors along it.

    Example: a layer and its activation, in a loop.

    ```mlir
    %z = attn.compute (%n: 64) sum (%k: 64) { %before[%k] * %w[%n, %k] } {attn.product = ..}
    %h = attn.compute (%n: 64) { tanh(%z[%n]) }

    // becomes

    %h = attn.kernel columns {
      %z = attn.compute ..
      %own = attn.compute ..
      attn.yield %own
    }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Behind each phase
//===----------------------------------------------------------------------===//

def CheckPhase : Pass<"attn-check-phase", "::mlir::ModuleOp"> {
  let summary = "verify what a phase promises";
  let description = [{
    * In, out: the module behind a phase, unchanged.
    * A broken promise is a mistake of the compiler; the error names the phase,
      so that it is found where it was made and not three passes later.

    What each phase promises stands in passes/Phases.def.
  }];
  let options = [
    Option<"phase", "phase", "Phase", /*default=*/"Phase::derive",
           "the phase that has just run", [{::fovea::attn::phaseValues()}]>
  ];
}

#endif // FOVEA_PASSES_PASSES_TD
