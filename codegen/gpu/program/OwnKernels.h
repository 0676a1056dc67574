//===- OwnKernels.h - kernels that the runtime itself launches --*- C++ -*-===//

#ifndef FOVEA_CODEGEN_GPU_PROGRAM_OWNKERNELS_H
#define FOVEA_CODEGEN_GPU_PROGRAM_OWNKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace fovea::codegen {

/// Adds what a learner does with the gradients of a program, for numbers of the
/// type `real` (runtime/device/OwnKernels.h), once to a module.
void addLearnerKernels(mlir::ModuleOp module, mlir::Type real);
/// The same of what a search does with log p of symbols.
void addSearchKernels(mlir::ModuleOp module, mlir::Type real);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PROGRAM_OWNKERNELS_H
