//===- Target.h - what a GPU of NVIDIA decides ------------------*- C++ -*-===//

#ifndef FOVEA_TARGETS_NVIDIA_TARGET_H
#define FOVEA_TARGETS_NVIDIA_TARGET_H

#include "dialect/AttnDialect.h"

#include "targets/nvidia/Dialect.h.inc"
#include "targets/nvidia/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "targets/nvidia/Attributes.h.inc"

namespace fovea::attn {

/// The static memory of a block in a kernel in strips that brings rows itself:
/// tiles of f64 beside rounded ones, or rounded keys and values. `shared_bytes`
/// is the rest of the memory.
constexpr int64_t mostTileBytes = 36 << 10;

/// The target of `op`, or null if it is not a GPU of NVIDIA.
NvidiaTargetAttr nvidiaTargetOf(mlir::Operation *op);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_TARGET_H
