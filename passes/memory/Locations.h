//===- Locations.h - what the phase `memory` says of arrays ---------------===//
//
// The names and attributes by which `attn-place-arrays` says where arrays lie
// (dialect/AttnMemory.td), for those who read them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_LOCATIONS_H
#define FOVEA_PASSES_MEMORY_LOCATIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

constexpr llvm::StringLiteral locationName = "attn.location",
                              locationsName = "attn.locations",
                              carriesName = "attn.carries",
                              swapsName = "attn.swaps",
                              packedName = "attn.packed",
                              packedLeftName = "attn.packed_left",
                              storedCopyName = "attn.stored_copy",
                              gatheredName = "attn.gathered_copies",
                              listName = "attn.list", roomsName = "attn.rooms";

/// Where an array lies; null: nobody has said that.
ArrayLocationAttr locationOf(mlir::Value array);

/// Where the right side of a product is packed, its left side, and the list of
/// the places of its left side's rows; null: there is none.
ArrayLocationAttr packedLocationOf(ComputeOp op);
ArrayLocationAttr packedLeftLocationOf(ComputeOp op);
ArrayLocationAttr listLocationOf(ComputeOp op);

/// The copy that an equation stores beside what it gives (Copies.h), or null.
ArrayLocationAttr storedCopyOf(ComputeOp op);

/// Whether the machine of `op` multiplies by what is packed: not where no tile
/// of a product has rows in registers.
bool packsProducts(mlir::Operation *op);

/// The rooms of a kernel, none where it needs none.
llvm::SmallVector<RoomAttr> roomsOf(KernelOp kernel);

/// The elements of a room, counted in real numbers of the type `real`, but for
/// the extents that are lengths.
int64_t countIn(RoomAttr room, mlir::Type real);

/// The ops of a block in the order in which they are computed: those of a
/// kernel ahead of the kernel.
llvm::SmallVector<mlir::Operation *> opsInOrder(mlir::Block &block);

/// The kernel with rooms of its own that `op` is a member of; null: of none.
KernelOp kernelAround(mlir::Operation *op);

/// Of a product in columns: how many equations read a part of it each.
int64_t partsOf(ComputeOp product, KernelOp kernel);

/// The array that an op gives as another view, or with a row more; null where
/// it gives one of its own. Nobody reads the old array once a row is appended.
mlir::Value viewedBy(mlir::Operation *op);

/// The op that computes an array, under its views and inside kernels; null for
/// the argument of a loop.
mlir::Operation *computedBy(mlir::Value array);

/// Whether an op stands in the body of a loop, by itself or in a kernel.
bool isInBodyOf(mlir::Operation *loop, mlir::Operation *op);

/// The location of what lies where another array does.
ArrayLocationAttr sameAs(ArrayLocationAttr location);

/// The loops around `op`, outermost first.
llvm::SmallVector<mlir::Operation *> loopsAround(mlir::Operation *op);

/// Whether a loop's rows are ranks: the examples by falling length, of which
/// those that still run are the first.
bool runsByRank(mlir::Operation *loop);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_LOCATIONS_H
