//===- KernelProfile.h - where the time of a program goes -----------------===//
//
// For `fovea bench --explain`: the kernels of a program timed one by one and
// added up by equation, beside what the equation computes and moves.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_KERNELPROFILE_H
#define FOVEA_TOOLS_FOVEA_KERNELPROFILE_H

#include "tools/fovea/Compiled.h"

namespace fovea::cli {

/// One program at a time: kernels are timed where they are handed to the
/// threads, which knows nothing of programs.
class KernelProfile {
public:
  /// A program that is created with these options is timed.
  void attach(CompiledOptions &options);

  /// Forgets what was timed so far.
  void clear();

  /// The equations by time, after `runs` runs of `seconds` each: where they
  /// stand, milliseconds and share of a run, GFLOP/s, their share of what
  /// `threads` threads could do at most, GB/s. Then what is kept between
  /// forward and backward. All examples of the batch have the same lengths.
  void print(CompiledProgram &program, int64_t batch, int64_t runs,
             double seconds, int threads, bool isDouble) const;

private:
  std::vector<codegen::KernelNote> notes;
};

/// What a thread can compute at most, in operations per second.
double measurePeak(mlir::MLIRContext &context, bool isDouble);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_KERNELPROFILE_H
