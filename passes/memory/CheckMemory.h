//===- CheckMemory.h - that every array of a program has a place ----------===//

#ifndef FOVEA_PASSES_MEMORY_CHECKMEMORY_H
#define FOVEA_PASSES_MEMORY_CHECKMEMORY_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns whether `attn-place-arrays` has run.
bool isPlaced(ProgramOp program);

/// Checks that every array has a location, and that arrays in shared memory fit
/// there; StorageMap relies on this. Emits an error otherwise.
mlir::LogicalResult verifyPlaced(ProgramOp program);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_CHECKMEMORY_H
