//===- Rooms.h - the memory that threads have for a kernel ----------------===//

#ifndef FOVEA_PASSES_MEMORY_ROOMS_H
#define FOVEA_PASSES_MEMORY_ROOMS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Gives a kernel in strips or in columns its rooms, and the arrays that it has
/// to itself their locations in them. The arrays that it reads have locations.
/// Fails, with an error, where the kernel is none that can be computed so.
mlir::LogicalResult placeInRooms(KernelOp kernel);

/// Whether the rows of a side of a product are not consecutive, so that a list
/// says where they are. The left side has a location.
bool needsRowList(ComputeOp product);

/// What the list holds: for each row where it is, or for each run of a row that
/// is gathered.
ArrayType rowListType(ComputeOp product);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_ROOMS_H
