//===- Groups.h - attention by groups of warps ------------------*- C++ -*-===//
//
// The configuration `#nvidia.groups` of a key-tiled attention (Target.td).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_GROUPS_H
#define FOVEA_TARGETS_NVIDIA_GROUPS_H

#include "targets/nvidia/Target.h"

namespace fovea::attn {

/// Returns how warp groups compute an attention from copies of its factors.
/// Null: the threads of a block bring its keys.
NvidiaGroupsAttr groupsOf(KernelOp kernel);

/// Decides this for a key-tiled attention: if its copies are smaller than the
/// originals, and fit on the chip.
void decideGroups(KernelOp kernel);
/// Checks such a decision; emits an error otherwise.
llvm::LogicalResult verifyGroups(KernelOp kernel);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_GROUPS_H
