//===- Prover.h - do the phases keep what is computed? ---------*- C++ -*-===//
//
// Executes programs on small inputs after each phase, with a tree of rounded
// operations for every number (dialect/reference/Trees.h). Where a phase gives
// another tree, the compilation is refused. Phases that decide orders of sums
// come before: a program is followed from the phase on that has decided its
// orders (docs/IR.md).
//
// Before that, a gradient is compared without roundings: its numbers are
// residues (dialect/reference/Residues.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_COMPILER_PROOF_PROVER_H
#define FOVEA_COMPILER_PROOF_PROVER_H

#include "compiler/proof/Sample.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "passes/Pipeline.h"

namespace fovea::proof {

/// Describes the data that a system or a program reads, with their limits.
using DescribeData =
    std::function<std::vector<runtime::DataSpec>(mlir::Operation *)>;
/// Adds the parameters that are computed from others, such as those of 8 bits.
using AddParameters =
    std::function<runtime::Status(mlir::ModuleOp, reference::Arrays &)>;

struct ProverOptions {
  DescribeData describe = &reference::describeData;
  AddParameters complete; // or null
  /// Whether the phase `kernels` rounds factors: programs are followed from
  /// there on.
  bool roundsFactors = false;
};

class Prover {
public:
  explicit Prover(ProverOptions options);

  /// Compares what each program gives after `phase` with what it gave before.
  /// Later calls change nothing once one has failed.
  void checkPhase(mlir::ModuleOp module, attn::Phase phase);
  /// The same for the schedules of the programs of `module`.
  void checkLaunches(mlir::ModuleOp module, mlir::ModuleOp schedules);

  /// The first difference, or the reason why there is no proof.
  const runtime::Status &status() const { return first; }
  /// What has been proved, for people.
  std::string summary() const;

  /// Calls checkPhase after each phase of a pipeline; the prover outlives it.
  std::unique_ptr<mlir::PassInstrumentation> watcher();

private:
  /// A program that is followed, or its numbers without roundings.
  struct Followed {
    bool isExact = false;
    Sample sample;
    std::vector<reference::Arrays> outputs; // of each example
    std::string before;                     // the last phase
    std::vector<std::string> phases;
  };
  using Outputs = std::vector<reference::Arrays>;

  runtime::Status
  check(mlir::Operation *container, llvm::StringRef phase, bool isExact,
        llvm::function_ref<runtime::Status(const Sample &, Outputs &)> execute);
  runtime::Status execute(mlir::Operation *container, attn::Phase phase,
                          const Sample &sample, Outputs &outputs);
  runtime::Status search(mlir::Operation *container, const Sample &sample,
                         Outputs &outputs);
  runtime::Status executeExactly(mlir::Operation *container, attn::Phase phase,
                                 const Sample &sample, Outputs &outputs);
  runtime::Status
  begin(mlir::Operation *container, Followed &followed,
        llvm::function_ref<runtime::Status(const Sample &, Outputs &)> execute);
  runtime::Status compare(llvm::StringRef name, const Followed &followed,
                          llvm::StringRef phase, const Outputs &outputs);
  bool isGivenOtherwise(llvm::StringRef output, const reference::Arrays &before,
                        const reference::Arrays &after) const;
  void fail(runtime::Status status);

  ProverOptions options;
  reference::Trees trees, residues{/*areExact=*/true};
  std::map<std::string, Followed> programs;
  size_t numCompared = 0;
  runtime::Status first = runtime::Status::success();
};

} // namespace fovea::proof

#endif // FOVEA_COMPILER_PROOF_PROVER_H
