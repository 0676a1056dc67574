//===- KernelProfile.h - where the time of a program goes -----------------===//
//
// For `fovea bench --explain`: times the kernels of a program one by one and
// sums the times by equation, with each equation's operations and bytes.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_PROFILE_KERNELPROFILE_H
#define FOVEA_APP_PROFILE_KERNELPROFILE_H

#include "app/model/Compiled.h"
#include "app/profile/KernelWork.h"

namespace fovea::cli {

/// One program, or one decoder, at a time: kernels are timed where they are
/// handed to the threads, and that place does not know programs.
class KernelProfile {
public:
  /// Programs created with these options are timed.
  void attach(CompiledOptions &options);

  /// Discards the times so far.
  void clear();

  /// The equations by time, after `runs` runs of `seconds` each: their place,
  /// milliseconds and share of a run, GFLOP/s, their share of the most that
  /// `threads` threads can do, GB/s. Then `rest`, the time between kernels, and
  /// the memory kept between forward and backward. `addressOf` finds a kernel;
  /// null: it is missing.
  void print(const std::vector<ProfiledProgram> &programs,
             llvm::function_ref<void *(const std::string &)> addressOf,
             int64_t runs, double seconds, int threads, bool isDouble,
             const std::string &rest) const;

private:
  std::vector<codegen::KernelNote> notes;
};

/// The peak rate of a thread, in operations per second.
double measurePeak(mlir::MLIRContext &context, bool isDouble);

} // namespace fovea::cli

#endif // FOVEA_APP_PROFILE_KERNELPROFILE_H
