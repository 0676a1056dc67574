//===- EmitProgram.h - a batched program as kernels -----------------------===//

#ifndef FOVEA_CODEGEN_CPU_PROGRAM_EMITPROGRAM_H
#define FOVEA_CODEGEN_CPU_PROGRAM_EMITPROGRAM_H

#include "codegen/native/Target.h"
#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program.h"

namespace fovea::codegen {

/// The function of the runtime that hands a kernel to the threads.
constexpr llvm::StringLiteral parallelName = "fovea_parallel";

/// The one that says on which of them a kernel runs.
constexpr llvm::StringLiteral threadName = "fovea_pool_thread";

/// A kernel and what it is part of: an equation, or a loop.
struct KernelNote {
  std::string symbol;
  mlir::Operation *op;
  /// Equations that are computed with it.
  std::vector<mlir::Operation *> others = {};
};

struct EmitOptions {
  /// What real numbers are: f32 or f64.
  mlir::Type real;
  Target target;
  /// Parameters are packed by a function of their own, `<entry>.prepare`, which
  /// the caller runs when they have changed, instead of in every run.
  bool prepares = false;
  /// Kernels keep their names and their frames: none is shared
  /// (ShareKernels.h), and who reads or times them knows them.
  bool keepsNames = false;
  /// Where the kernels are listed, if anywhere.
  std::vector<KernelNote> *notes = nullptr;
};

/// Brings `program` through the phase `kernels`, and adds to `module` the
/// function `@<entry>`, which runs `program` on a frame, and its kernels;
/// describes in `description` what the frame holds. Behind the phase `fuse`.
/// Fails, with an error at the op, on what cannot be compiled yet (an
/// `attn.search`: EmitDecoder.h).
///
/// A kernel is `void(ptr frame, i64 first, i64 last)`: it does the work units
/// `first` .. `last`-1, which do not depend on each other.
mlir::LogicalResult emitProgram(attn::ProgramOp program, mlir::ModuleOp module,
                                const EmitOptions &options,
                                runtime::Program &description);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PROGRAM_EMITPROGRAM_H
