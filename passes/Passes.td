//===- Passes.td - every pass of the compiler --------------*- tablegen -*-===//
//
// In the order of passes/Pipeline.cpp. A description answers, in this order:
// what goes in, what comes out, what must have run before, one example.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_TD
#define FOVEA_PASSES_TD

include "mlir/Pass/PassBase.td"

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
  let statistics = [
    Statistic<"numAdjoints", "adjoints", "arrays that got an adjoint">
  ];
}

#endif // FOVEA_PASSES_TD
