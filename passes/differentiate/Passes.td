//===- Passes.td - the gradient of the loss ----------------*- tablegen -*-===//
//
// The passes of the phase `differentiate`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_DIFFERENTIATE_PASSES_TD
#define FOVEA_PASSES_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

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
      place instead, nor a parameter an axis of one, as weights of convolutions
      have; an output that is a sum is a view of one without these.
    * After `attn-split-concat`, which takes apart what stands still from what
      does not. Before `attn-differentiate`: the adjoint then is added up over
      the index before it goes on. With `of-one` after `attn-inherit-support`.
    * Not: other outputs, indices of one place in recurrences, where they tell
      what is before what, parts of concatenations, arrays that are read with cases or
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
    * What is asked for beside the objective has values everywhere and no
      gradient: where it depends on guarded equations, it reads copies.
    * Not: equations that a condition reads; a recurrence whose guard would have
      to be known before itself.

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
      linear in the seeds. Of a policy, the input `state.policy` seeds -log p of
      what was generated. A parameter that the objective does not depend on
      has a gradient of zeros. Of the real data that `by` names, which each
      example has for itself, `adjoint/<name>` is the same.
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
  let options = [
    ListOption<"by", "by", "std::string", "names of real data that have an adjoint, as parameters do">
  ];
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

#endif // FOVEA_PASSES_DIFFERENTIATE_PASSES_TD
