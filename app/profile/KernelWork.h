//===- KernelWork.h - what the kernels of a program do ----------*- C++ -*-===//
//
// Operations and bytes of equations, from the lengths of a batch. Used for
// profiles and for lower bounds.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_PROFILE_KERNELWORK_H
#define FOVEA_APP_PROFILE_KERNELWORK_H

#include "dialect/AttnForward.h"
#include "mlir/IR/Operation.h"
#include "runtime/Decoder.h"
#include "runtime/memory/Placement.h"

namespace fovea::cli {

/// A program's run: for so many examples or hypotheses, all of the same
/// lengths, so many times.
struct ProfiledProgram {
  const runtime::Program &program;
  runtime::BatchSize size;
  int64_t calls = 1;
};

/// The programs of a search that makes so many steps for so many hypotheses per
/// example; on average, half of the steps' results exist.
std::vector<ProfiledProgram> programsOf(const runtime::Decoder &decoder,
                                        const runtime::BatchSize &size,
                                        int64_t hypotheses, int64_t steps);

/// The work of equations in one run; `readBytes` is the read part of
/// `bytes`.
struct Work {
  double flops = 0, bytes = 0, readBytes = 0;
  /// Among the operations: those of products, and the number of exponentials.
  double productFlops = 0, exponentials = 0;
};

/// Counts by the extents of a program's run.
class WorkCounter {
public:
  WorkCounter(const ProfiledProgram &profiled, bool isDouble)
      : program(profiled.program), batch(profiled.size.batch),
        calls(profiled.calls), realBytes(isDouble ? 8 : 4),
        lengths(runtime::lengthsOf(program, profiled.size)) {}

  double extent(mlir::Attribute extent) const;
  double elements(attn::ArrayType type) const;
  double bytes(mlir::Value array) const;
  /// The work of one equation.
  Work of(attn::ComputeOp op) const;
  /// The work of equations in one kernel: internal values are not
  /// moved.
  Work of(llvm::ArrayRef<attn::ComputeOp> ops) const;

private:
  struct Reads;
  Reads readsOf(attn::ComputeOp op) const;
  /// How often it runs.
  double stepsOf(mlir::Operation *op) const;
  double elementBytes(mlir::Value array) const;

  const runtime::Program &program;
  int64_t batch, calls;
  double realBytes;
  std::vector<int64_t> lengths;
};

/// `energy[i] sum[k]`; a loop is called by its extent.
std::string equationName(mlir::Operation *op);

/// `rnnsearch.fov:31`, or nothing.
std::string placeOf(mlir::Operation *op);

/// `enc_ff.3.w1` is one of `enc_ff.w1`.
std::string withoutMembers(llvm::StringRef name);

/// The name of the program that an equation belongs to.
llvm::StringRef programOf(mlir::Operation *op);

} // namespace fovea::cli

#endif // FOVEA_APP_PROFILE_KERNELWORK_H
