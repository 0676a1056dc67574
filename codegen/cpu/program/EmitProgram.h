//===- EmitProgram.h - a batched program as kernels -----------------------===//

#ifndef FOVEA_CODEGEN_CPU_PROGRAM_EMITPROGRAM_H
#define FOVEA_CODEGEN_CPU_PROGRAM_EMITPROGRAM_H

#include "codegen/Backend.h"

namespace fovea::codegen {

/// Adds to `module` the function `@<entry>`, which runs `program` on a frame,
/// and its kernels; describes the frame in `description`. Runs after the phase
/// `memory`.
///
/// A kernel is `void(ptr frame, i64 first, i64 last)`: it does the work units
/// `first` .. `last`-1, which do not depend on each other.
mlir::LogicalResult emitProgram(attn::ProgramOp program, mlir::ModuleOp module,
                                const EmitOptions &options,
                                runtime::Program &description);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PROGRAM_EMITPROGRAM_H
