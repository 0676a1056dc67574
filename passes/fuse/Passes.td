//===- Passes.td - equations as they are computed ----------*- tablegen -*-===//
//
// The passes of the phase `fuse`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_FUSE_PASSES_TD
#define FOVEA_PASSES_FUSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TakeBranches : Pass<"attn-take-branches", "::mlir::ModuleOp"> {
  let summary = "a branch that the condition of its equation decides is taken";
  let description = [{
    * In: programs.
    * Out: the same programs, in which no body of an `attn.compute` asks again
      what its condition says.
    * After: `attn-batch`.
    * Not: what neither stands in the condition as well nor follows from a
      comparison of two indices, and branches that are never taken.

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

def OrderChannels : Pass<"attn-order-channels", "::mlir::ModuleOp"> {
  let summary = "the channels of a convolution stand last";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which a convolution over channels, and each
      adjoint of one, has its indices in the order of rows, columns and terms,
      the channels last, and reads arrays with their axes in that order: they are
      turned where they are not. So has a product of rows with weights, as a
      convolution over one place is. `attn-name-products` finds a product then.
    * After: `attn-batch`; before `attn-pad-windows`, which is for the others.
    * Not: convolutions that have no channels, with less than 8 terms or
      columns, in loops, or over a length that varies inside of an example, and
      sums whose other factor is no whole array.

    Example:

    ```mlir
    %y = attn.compute (%o: 64, %i: "Y") sum (%c: 32, %j: 3) { %w[%o, %c, %j] * %x[%c, %i + %j] default 0 }

    // becomes

    %x1 = attn.compute (%i: "Y", %c: 32) { %x[%c, %i] }
    %w1 = attn.compute (%j: 3, %c: 32, %o: 64) { %w[%o, %c, %j] }
    %y1 = attn.compute (%i: "Y", %o: 64) sum (%j: 3, %c: 32) { %w1[%j, %c, %o] * %x1[%i + %j, %c] default 0 }
    %y = attn.compute (%o: 64, %i: "Y") { %y1[%i, %o] }
    ```
  }];
}

def OrderIndices : Pass<"attn-order-indices", "::mlir::ModuleOp"> {
  let summary = "equations have the order of what they read";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which the last index of an equation is one along
      which what it reads has neighbours, if the one that was last has fewer: it
      has the order of what it reads, and those who read it read it in that
      order. Parameters are turned for it.
    * After: `attn-order-channels`, `attn-factor-products`, which decide in which
      order products stand; before `attn-fuse-elementwise`.
    * Not: products, normalisers, equations in loops or over a length that varies
      inside of an example, what a product has its terms last in, and what
      anything else than an equation reads, as outputs.

    Example: what follows a convolution over the channels `c`, in the order of
    the file that it comes from.

    ```mlir
    %y = attn.compute (%i: "Y", %c: 64) sum (%k: 32) { %x[%i, %k] * %w[%k, %c] }
    %z = attn.compute (%c: 64, %i: "Y") { tanh(%y[%i, %c]) }
    %u = attn.compute (%d: 8, %i: "Y") sum (%c: 64) { %z[%c, %i] * %v[%c, %d] }

    // becomes

    %z = attn.compute (%i: "Y", %c: 64) { tanh(%y[%i, %c]) }
    %u = attn.compute (%d: 8, %i: "Y") sum (%c: 64) { %z[%i, %c] * %v[%c, %d] }
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
    * Not: convolutions that are matrix products; windows of fewer than eight
      places, or along a length that varies
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
      reads, element by element, is computed inside of it, as is one of which
      each reader takes a part of its own, and arrays that only copy another are
      gone. What a body outside of loops reads twice it reads once.
    * After: `attn-batch`.
    * Not: what two equations read, or a larger one: nothing is computed more
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
    * Out: the same programs. Sums over the steps of an `attn.scan` that alone
      read its large rows after it, or read large rows of an earlier one that it
      reads as well, become its carries: each step adds what its row gives.
      Large is a row with a length of its own and more (T x S x A).
    * After: `attn-batch`, `attn-fuse-elementwise`. What nobody reads afterwards
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
    * After: `attn-batch`, `attn-carry-sums`. What nobody reads afterwards is
      left to `attn-trim-scans`.
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
    * Out: the same programs. Where all readers after an `attn.scan` read a row
      of it at the same place of an axis, only that place is kept. A row that is
      sums and products of other rows that are kept, of parameters or of arrays
      that are there anyway is computed by its readers, in the same order of
      operations.
    * After: `attn-batch`, `attn-fuse-elementwise`. What nobody reads afterwards
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
      product, and so is what is multiplied with weights of at least 16
      columns. A factor that is none, `s[t-1,k]` with a boundary or the first
      rows of a longer array, becomes an array of its own.
    * After: `attn-batch`.
    * Not: equations in loops, sums whose factors have no row of neighbouring
      elements, and other sums that every example has for itself: an array would
      cost more than it gives.

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
      function (tanh, exp, ..) at the same places have the same indices and are
      consecutive, so that `attn-share-loops` makes one loop of both. The one
      that adds up more, over other indices or over the examples, becomes a sum
      with the indices of the other one, and the sum of what that gives.
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

def GuardRows : Pass<"attn-guard-rows", "::mlir::ModuleOp"> {
  let summary = "work follows the guard";
  let description = [{
    * In: batched programs.
    * Out: the same programs, in which layers are computed only for the rows that
      are looked at. A condition that reads arrays holds wherever the result of
      an equation is read, or wherever one of its factors is not zero: it becomes
      a condition of the equation.
    * After: all that changes equations. Before: `attn-name-products`, which makes
      these layers products of gathered rows.
    * Not: guards of no layer; equations that stand before an array that the
      guard reads; guards that pass through views, such as `fold`.

    Example: an expert, which a router chooses for some words.

    ```mlir
    %y = attn.compute (%t: "T", %n: 64) sum (%k: 32) { %x[%t, %k] * %w[%n, %k] } {attn.batch = "each"}
    %z = attn.compute (%t: "T", %n: 64) { if %g[%t] > 0 then %y[%t, %n] else 0 } {attn.batch = "each"}

    // becomes

    %y = attn.compute (%t: "T", %n: 64) sum (%k: 32) where { %g[%t] > 0 }
      { %x[%t, %k] * %w[%n, %k] } {attn.batch = "each"}
    ```
  }];
}

def SplitMembers : Pass<"attn-split-members", "::mlir::ModuleOp"> {
  let summary = "long equations over the members of a family become parts";
  let description = [{
    * In: batched programs.
    * Out: the same programs. An equation with more than 32 reads, such as a sum
      over 64 layers, reads equations for parts of its sums and differences, of
      16 reads each. What a part reads at a constant place, `p[t,3]`, is an array
      of its own. A concatenation of more than 32 parts becomes one of groups of
      8. Parts have the same form wherever they are, so they share kernels. No
      rounding changes.
    * After: all that merges equations.
    * Not: equations that reduce over an index, and parts whose other values are
      used outside of them.

    Example:

    ```mlir
    %x = attn.compute (%t: "T", %d: 64) { %p[%t, 0] * %h0[%t, %d] + .. + %p[%t, 63] * %h63[%t, %d] }

    // becomes

    %p0 = attn.compute (%t: "T") { %p[%t, 0] }
    ..
    %a = attn.compute (%t: "T", %d: 64) { %p0[%t] * %h0[%t, %d] + .. + %p7[%t] * %h7[%t, %d] }
    ..
    %x = attn.compute (%t: "T", %d: 64) { %a[%t, %d] + .. + %h[%t, %d] }
    ```
  }];
}

def ShortenLives : Pass<"attn-shorten-lives", "::mlir::ModuleOp"> {
  let summary = "arrays of guarded rows live shorter";
  let description = [{
    * In: batched programs with named products.
    * Out: the same programs. It looks at equations whose condition reads arrays
      and chooses rows, such as the words of an expert. Their last reader moves to
      where it has all that it reads, if it needs no more memory than it frees.
      Elementwise ones are computed again for readers far behind, if what they
      read is there anyway. So an expert reuses the memory of the one before.
    * After: `attn-name-products`. Before: all that places arrays.
    * Not: arrays of loops, outputs, products, and conditions on single elements.

    Example: an expert's activation, in the forward and in the backward pass.

    ```mlir
    %a = attn.compute (%t: "T", %n: 64) where { %g[%t] > 0 } { tanh(%h[%t, %n]) }
    ..
    %d = attn.compute (%t: "T", %n: 64) where { %g[%t] > 0 } { %a[%t, %n] * %e[%t, %n] + %h[%t, %n] }

    // becomes

    %a = attn.compute (%t: "T", %n: 64) where { %g[%t] > 0 } { tanh(%h[%t, %n]) }
    ..
    %b = attn.compute (%t: "T", %n: 64) where { %g[%t] > 0 } { tanh(%h[%t, %n]) }
    %d = attn.compute (%t: "T", %n: 64) where { %g[%t] > 0 } { %b[%t, %n] * %e[%t, %n] + %h[%t, %n] }
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
      terms; a length counts as long), those of an example in a loop with less
      than 8192 multiply-adds (a length counts as 64), and bodies that are more
      than two factors. Places that are more than an index plus a number, and
      conditions that say more than which columns count or that rows and columns
      are near one another, make a product of rows gathered in runs of three
      elements at least; where these depend on all indices, an equation is no
      product.

    Example: a layer, whose weights the batch has once.

    ```mlir
    %h = attn.compute (%i: "S", %n: 64) sum (%k: 32) { %x[%i, %k] * %w[%n, %k] } {attn.batch = "each"}

    // becomes

    %h = attn.compute (%i: "S", %n: 64) sum (%k: 32) { %x[%i, %k] * %w[%n, %k] }
      {attn.batch = "each", attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>}
    ```
  }];
}

def OrderSums : Pass<"attn-order-sums", "::mlir::ModuleOp"> {
  let summary = "in which order equations add up";
  let description = [{
    * In: batched programs whose products are named.
    * Out: the same programs, in which every reduction has an order, also those
      of derivatives. It follows from the equation alone, so that all machines
      give the same bits. A sum over a length of an element of each row, as a
      log-likelihood, becomes an equation that names its terms, and their sum; a
      sum over the examples of products of theirs becomes the product of each,
      and their sum.
    * In a module with `attn.sums = array<i64: 1>`, derivatives that are large
      products with parameters, or gradients of parameters, round their factors.
    * After: all that changes equations, and `attn-name-products`.
    * Not: what has an order since `attn-order-equations`; products, whose
      elements are one chain each.

    Example: the log-likelihood of a sentence.

    ```mlir
    %p = attn.compute () sum (%t: "T") { %logp[%t, %word[%t]] } {attn.batch = "each"}

    // becomes

    %0 = attn.compute (%t: "T") { %logp[%t, %word[%t]] } {attn.batch = "each"}
    %p = attn.compute () sum (%t: "T") order(lanes %t) { %0[%t] } {attn.batch = "each"}
    ```
  }];
}

#endif // FOVEA_PASSES_FUSE_PASSES_TD
