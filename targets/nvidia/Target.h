//===- Target.h - what a GPU of NVIDIA decides ------------------*- C++ -*-===//

#ifndef FOVEA_TARGETS_NVIDIA_TARGET_H
#define FOVEA_TARGETS_NVIDIA_TARGET_H

#include "dialect/AttnDialect.h"

#include "targets/nvidia/Dialect.h.inc"
#include "targets/nvidia/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "targets/nvidia/Attributes.h.inc"

namespace fovea::attn {

/// The target of `op`, or null if it is not a GPU of NVIDIA.
NvidiaTargetAttr nvidiaTargetOf(mlir::Operation *op);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_TARGET_H
