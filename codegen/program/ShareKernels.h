//===- ShareKernels.h - kernels that differ in their places ---*- C++ -*-===//

#ifndef FOVEA_CODEGEN_PROGRAM_SHAREKERNELS_H
#define FOVEA_CODEGEN_PROGRAM_SHAREKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace fovea::codegen {

/// Lets the kernels of a program find the slots of the frame that they read in
/// a list of their own, which is filled ahead of each launch. The kernels of
/// the layers of a model, which differ in these slots alone, become equal, and
/// are private: splitModule keeps one of them (codegen/native/Split.h).
///
/// With `keepsNames` kernels stay apart, and public.
///
/// A kernel that does anything with its frame but read whole slots of known
/// numbers stays as it is, public and under its name.
void shareKernels(mlir::ModuleOp module, bool keepsNames = false);

/// Makes `fovea-share-kernels`, the same as a pass, known to command lines.
void registerShareKernelsPass();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_SHAREKERNELS_H
