//===- KernelProfile.h - where the time of a program goes -----------------===//
//
// For `fovea bench --explain`: the kernels of a program timed one by one and
// added up by equation, beside what the equation computes and moves.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_KERNELPROFILE_H
#define FOVEA_DRIVER_MODEL_KERNELPROFILE_H

#include "driver/model/Compiled.h"
#include "driver/model/KernelWork.h"

namespace fovea::cli {

/// One program, or one decoder, at a time: kernels are timed where they are
/// handed to the threads, which knows nothing of programs.
class KernelProfile {
public:
  /// What is created with these options is timed.
  void attach(CompiledOptions &options);

  /// Forgets what was timed so far.
  void clear();

  /// The equations by time, after `runs` runs of `seconds` each: where they
  /// stand, milliseconds and share of a run, GFLOP/s, their share of what
  /// `threads` threads could do at most, GB/s. Then `rest`, which is what
  /// stands between kernels, and what is kept between forward and backward.
  /// `addressOf` finds a kernel; null: it is not there.
  void print(const std::vector<ProfiledProgram> &programs,
             llvm::function_ref<void *(const std::string &)> addressOf,
             int64_t runs, double seconds, int threads, bool isDouble,
             const std::string &rest) const;

private:
  std::vector<codegen::KernelNote> notes;
};

/// What a thread can compute at most, in operations per second.
double measurePeak(mlir::MLIRContext &context, bool isDouble);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_KERNELPROFILE_H
