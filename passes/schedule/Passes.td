//===- Passes.td - equations in an order -------------------*- tablegen -*-===//
//
// The passes of the phase `schedule`; part of passes/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_SCHEDULE_PASSES_TD
#define FOVEA_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"attn-schedule", "::mlir::ModuleOp"> {
  let summary = "find an order of the equations: scans, searches, whole arrays";
  let description = [{
    * In: systems.
    * Out: a program of the same name for each. Equations that need each other
      share an `attn.scan` along an index that they read on one side only; all
      others are one op over all their indices, before or after the loops. In a
      system with generated names (`attn.choice` with a result) their index is
      an `attn.search`; what does not depend on them comes before it. What no
      output, choice or mark needs is gone. If no order exists, a search is
      planned again on demand: an equation is restated up to the places that
      are read of it (Demand.cpp), blocks `T//B` become places of T
      (ExpandBlocks.cpp), and a sequence of M given and T generated places is
      cut in two (SplitPrefix.cpp).
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

#endif // FOVEA_PASSES_SCHEDULE_PASSES_TD
