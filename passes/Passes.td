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
      the sum of the penalties; and the equations named in `get`.
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
    ListOption<"get", "get", "std::string", "names of equations that become outputs">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"
  ];
  let statistics = [
    Statistic<"numChoices", "choices", "observed choices that joined the objective">
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
  let statistics = [
    Statistic<"numGenerated", "generated", "choices whose result is generated">
  ];
}

def InheritSupport : Pass<"attn-inherit-support", "::mlir::ModuleOp"> {
  let summary = "give the condition of a softmax to the sums that it weighs";
}

//===----------------------------------------------------------------------===//
// differentiate
//===----------------------------------------------------------------------===//

def SplitConcat : Pass<"attn-split-concat", "::mlir::ModuleOp"> {
  let summary = "split contractions over joined vectors by columns";
}

def Inline : Pass<"attn-inline", "::mlir::ModuleOp"> {
  let summary = "compute an array where it is read";
  let options = [
    Option<"mode", "mode", "InlineMode", "InlineMode::expansions",
           "what is inlined", [{::llvm::cl::values(
      clEnumValN(InlineMode::expansions, "expansions",
                 "arrays that are larger than all that their reader needs"),
      clEnumValN(InlineMode::all, "all", "whatever has one reader")
    )}]>
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
  let statistics = [
    Statistic<"numAdjoints", "adjoints", "arrays that got an adjoint">
  ];
}

//===----------------------------------------------------------------------===//
// schedule
//===----------------------------------------------------------------------===//

def Schedule : Pass<"attn-schedule", "::mlir::ModuleOp"> {
  let summary = "find an order of the equations: scans, searches, whole arrays";
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
