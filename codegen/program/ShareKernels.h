//===- ShareKernels.h - kernels that differ in their places ---*- C++ -*-===//

#ifndef FOVEA_CODEGEN_PROGRAM_SHAREKERNELS_H
#define FOVEA_CODEGEN_PROGRAM_SHAREKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace fovea::codegen {

/// Makes the kernels of a program read their frame slots through a list, which
/// is filled before each launch. The kernels of a model's layers, which differ
/// only in these slots, become equal and private: splitModule keeps one of them
/// (codegen/native/Split.h).
///
/// With `keepsNames` kernels stay apart, and public.
///
/// A kernel that uses its frame for anything but reads of whole slots with
/// constant numbers stays unchanged, public and under its name.
void shareKernels(mlir::ModuleOp module, bool keepsNames = false);

/// Registers `fovea-share-kernels`, the same as a pass, for command lines.
void registerShareKernelsPass();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_SHAREKERNELS_H
