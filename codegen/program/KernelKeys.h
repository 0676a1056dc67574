//===- KernelKeys.h - launches that have the same kernel --------*- C++ -*-===//
//
// Twelve layers have the same equations for other arrays. Their kernels differ
// in the memories and scalars that runs give to them, so a schedule has one
// kernel for all of them. A key has all that a kernel depends on beside these.
// Experts also read their weights at different places of one array. A kernel
// gets such constant places from its runs, too.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_PROGRAM_KERNELKEYS_H
#define FOVEA_CODEGEN_PROGRAM_KERNELKEYS_H

#include "dialect/launch/LaunchDialect.h"
#include "passes/memory/Storage.h"

namespace fovea::codegen {

/// What the kernel of a run depends on, the memories and scalars apart.
using KernelKey = std::vector<uint64_t>;

/// A constant at which an op reads elements, in all reads that have it.
struct ConstantPlace {
  int64_t value;
  llvm::SmallVector<mlir::arith::ConstantOp, 2> constants;
};

/// The constants of an op that a run may give to its kernel: no analysis and no
/// emitter depends on their values.
llvm::SmallVector<ConstantPlace> constantPlaces(mlir::Operation *op);

/// The key of a run, whose op is `op`, without its constant places: runs with
/// equal keys have the same kernel. Nothing for a run in a loop, whose kernel
/// depends on what is around it.
std::optional<KernelKey> keyOf(launch::RunOp run, mlir::Operation *op,
                               llvm::ArrayRef<ConstantPlace> places,
                               const attn::StorageMap &storage);

/// The frame slots of what a run gives to its kernel, in the order of the
/// kernel's arguments.
llvm::SmallVector<int64_t> argumentsOf(launch::RunOp run,
                                       const attn::StorageMap &storage);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_KERNELKEYS_H
