//===- Locations.h - what the phase `memory` says of arrays ---------------===//
//
// What `attn-place-arrays` sets beside the locations of arrays
// (dialect/ArrayLocations.h), for its readers.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_LOCATIONS_H
#define FOVEA_PASSES_MEMORY_LOCATIONS_H

#include "dialect/ArrayLocations.h"

namespace fovea::attn {

/// The packed right side of a product, its left side, and the list of its left
/// side's row addresses, or null.
ArrayLocationAttr packedLocationOf(ComputeOp op);
ArrayLocationAttr packedLeftLocationOf(ComputeOp op);
ArrayLocationAttr listLocationOf(ComputeOp op);

/// The copy that an equation stores beside its result (Copies.h), or null.
ArrayLocationAttr storedCopyOf(ComputeOp op);

/// Returns whether the target of `op` multiplies packed factors.
bool packsProducts(mlir::Operation *op);

/// The workspace locations of a kernel, or none.
llvm::SmallVector<RoomAttr> roomsOf(KernelOp kernel);

/// The size of a workspace, in real numbers of the type `real`; extents that
/// are lengths are separate.
int64_t countIn(RoomAttr room, mlir::Type real);

/// The ops of a block in execution order: members of a kernel before the
/// kernel.
llvm::SmallVector<mlir::Operation *> opsInOrder(mlir::Block &block);

/// The kernel with its own workspace that contains `op`, or null.
KernelOp kernelAround(mlir::Operation *op);

/// For a product in columns: the number of equations that each read a part of
/// it.
int64_t partsOf(ComputeOp product, KernelOp kernel);

/// The array that an op's result views, or extends by a row; null for a new
/// array. Nothing reads the old array after a row is appended.
mlir::Value viewedBy(mlir::Operation *op);

/// The op that computes an array, through views and kernels; null for a loop
/// argument.
mlir::Operation *computedBy(mlir::Value array);

/// Returns whether an op is in the body of a loop, directly or in a kernel.
bool isInBodyOf(mlir::Operation *loop, mlir::Operation *op);

/// The location of an array that shares another array's memory.
ArrayLocationAttr sameAs(ArrayLocationAttr location);

/// The loops around `op`, outermost first.
llvm::SmallVector<mlir::Operation *> loopsAround(mlir::Operation *op);

/// Returns whether a loop's rows are ranks: examples by decreasing length, with
/// the running ones first.
bool runsByRank(mlir::Operation *loop);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_LOCATIONS_H
