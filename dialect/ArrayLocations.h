//===- ArrayLocations.h - where arrays lie in memory ------------*- C++ -*-===//
//
// The names of the attributes that hold locations (dialect/AttnMemory.td), and
// how they are found. Passes, emitters and the interpreter of launches share
// them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_ARRAYLOCATIONS_H
#define FOVEA_DIALECT_ARRAYLOCATIONS_H

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
                              listName = "attn.list", roomsName = "attn.rooms",
                              placeSlotName = "attn.place_slot";

/// The array's location, or null if it has not been assigned.
ArrayLocationAttr locationOf(mlir::Value array);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ARRAYLOCATIONS_H
