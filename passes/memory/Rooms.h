//===- Rooms.h - the memory that threads have for a kernel ----------------===//

#ifndef FOVEA_PASSES_MEMORY_ROOMS_H
#define FOVEA_PASSES_MEMORY_ROOMS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Assigns a kernel in strips or in columns its workspace, and locations in it
/// to its internal arrays. The arrays that it reads have locations. Fails with
/// an error if the kernel cannot be computed so.
mlir::LogicalResult placeInRooms(KernelOp kernel);

/// Returns whether the rows of a product's side are not consecutive, so that a
/// list contains their addresses. The left side has a location.
bool needsRowList(ComputeOp product);

/// The entries of the list: for each row its address, or for each run of a
/// gathered row.
ArrayType rowListType(ComputeOp product);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_ROOMS_H
