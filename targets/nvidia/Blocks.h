//===- Blocks.h - the threads of a block ------------------------*- C++ -*-===//
//
// The configuration `#nvidia.block` of an equation (Target.td).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_BLOCKS_H
#define FOVEA_TARGETS_NVIDIA_BLOCKS_H

#include "targets/nvidia/Target.h"

namespace fovea::attn {

/// The smallest scheduling unit of a processor.
constexpr int64_t threadsOfWarp = 32;

/// The threads of a block; nothing if the emitter decides.
std::optional<int64_t> threadsOf(mlir::Operation *op);
void setThreads(mlir::Operation *op, int64_t threads);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_BLOCKS_H
