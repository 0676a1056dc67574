//===- CheckMemory.h - that every array of a program has a place ----------===//

#ifndef FOVEA_PASSES_MEMORY_CHECKMEMORY_H
#define FOVEA_PASSES_MEMORY_CHECKMEMORY_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Whether `attn-place-arrays` has run.
bool isPlaced(ProgramOp program);

/// That every array has a location, and those that share memory fit there: what
/// StorageMap relies on. Emits an error otherwise.
mlir::LogicalResult verifyPlaced(ProgramOp program);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_CHECKMEMORY_H
