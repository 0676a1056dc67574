//===- Blocks.h - the threads of a block ------------------------*- C++ -*-===//
//
// `attn.threads` of an equation says how many threads a block of a GPU has that
// computes units of it. What is not written is left to the GPU.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_BLOCKS_H
#define FOVEA_TARGETS_NVIDIA_BLOCKS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The smallest scheduling unit of a processor.
constexpr int64_t threadsOfWarp = 32;

/// The threads of a block; nothing if left to the GPU.
std::optional<int64_t> threadsOf(mlir::Operation *op);
void setThreads(mlir::Operation *op, int64_t threads);

/// Part of attribute verification: checks that blocks of `op` can have so many
/// threads. Ignores all other attributes.
mlir::LogicalResult verifyThreads(mlir::Operation *op,
                                  mlir::NamedAttribute named);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_BLOCKS_H
