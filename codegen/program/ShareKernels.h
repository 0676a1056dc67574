//===- ShareKernels.h - kernels that differ in their places ---*- C++ -*-===//

#ifndef FOVEA_CODEGEN_PROGRAM_SHAREKERNELS_H
#define FOVEA_CODEGEN_PROGRAM_SHAREKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace fovea::codegen {

/// The frame slots that a kernel reads, in the order of its list; nothing if it
/// uses its frame in another way.
std::optional<llvm::SmallVector<int64_t>>
slotsReadBy(mlir::func::FuncOp kernel);

/// Of a call that launches the kernel of an earlier call in the same function:
/// the slots that the kernel reads for it, instead of its own.
constexpr llvm::StringLiteral launchSlotsName = "fovea.slots";

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
