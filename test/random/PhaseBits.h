//===- PhaseBits.h - the bits of a module after each phase ------*- C++ -*-===//
//
// The interpreter runs a module in f32 as each phase leaves it, and gives the
// bits of compiled code.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_PHASEBITS_H
#define FOVEA_TEST_RANDOM_PHASEBITS_H

#include "app/model/CompiledDecoder.h"
#include "test/random/Checks.h"

namespace fovea::random {

/// A module after each phase.
class PhaseModules {
public:
  /// Lowers a copy of `original` without the system `other` for this machine.
  /// Fails where a pass does.
  mlir::LogicalResult lower(mlir::ModuleOp original, llvm::StringRef other,
                            attn::PipelineOptions &pipeline);
  /// A copy of the module after the phase `fuse`, for compilation.
  mlir::OwningOpRef<mlir::ModuleOp> fused() const {
    return at(attn::Phase::fuse).clone();
  }
  mlir::ModuleOp at(attn::Phase phase) const {
    return *modules[static_cast<size_t>(phase)];
  }

private:
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

/// Says where the first number with other bits is; empty when there is none. A
/// sum that is zero has either sign: tiles of products add the zeros of
/// padding.
std::string differingBits(const reference::Array &want,
                          const std::vector<double> &got);

/// Compares the last run of compiled `@loss` or `@grad` over `batch` with the
/// program after each phase: loss and log p from `derive` on, gradients from
/// `fuse` on, which orders their sums. Each mistake is a failure.
void compareWithPhases(const cli::CompiledProgram &program,
                       llvm::StringRef entry, const PhaseModules &phases,
                       std::vector<reference::Inputs> batch, Failures &failures,
                       Statistics &statistics);

/// What compiled code has generated from a batch, and how.
struct Searched {
  runtime::SearchOptions options;
  std::vector<std::vector<runtime::Generated>> found;
};

/// Compares what compiled code has generated from `batch` with what the
/// interpreter generates after each phase.
void compareWithPhases(const std::vector<Searched> &searches, const Spec &spec,
                       const PhaseModules &phases, const runtime::Batch &batch,
                       const reference::Arrays &weights, Failures &failures,
                       Statistics &statistics);

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_PHASEBITS_H
