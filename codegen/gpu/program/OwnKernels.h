//===- OwnKernels.h - kernels that the runtime itself launches --*- C++ -*-===//

#ifndef FOVEA_CODEGEN_GPU_PROGRAM_OWNKERNELS_H
#define FOVEA_CODEGEN_GPU_PROGRAM_OWNKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace fovea::codegen {

/// Adds the learner's operations on a program's gradients, for the real type
/// `real` (runtime/device/OwnKernels.h), once per module.
void addLearnerKernels(mlir::ModuleOp module, mlir::Type real);
/// The same for the search's operations on log p of symbols.
void addSearchKernels(mlir::ModuleOp module, mlir::Type real);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PROGRAM_OWNKERNELS_H
