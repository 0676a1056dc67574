//===- Passes.td - the gradient of the loss ----------------*- tablegen -*-===//
//
// The passes of the phase `differentiate`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_DIFFERENTIATE_PASSES_TD
#define FOVEA_PASSES_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

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
