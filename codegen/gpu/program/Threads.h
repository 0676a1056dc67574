//===- Threads.h - the threads of a GPU -------------------------*- C++ -*-===//
//
// A block has 128 threads (32 if units are few and long), in groups of 16: as
// many as a reduction has partial results (codegen/kernel). A group computes a
// small work unit, a block a large one.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PROGRAM_THREADS_H
#define FOVEA_CODEGEN_GPU_PROGRAM_THREADS_H

#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

constexpr int64_t groupThreads = 16;
constexpr int64_t blockThreads = 128;

/// A thread's coordinates, as i64.
mlir::Value threadInBlock(KernelBuilder &kernel);
mlir::Value blockNumber(KernelBuilder &kernel);
mlir::Value numBlocks(KernelBuilder &kernel);

/// The block's rank in its cluster, and the cluster size: 1 without
/// clusters.
mlir::Value blockInCluster(KernelBuilder &kernel);
mlir::Value blocksOfCluster(KernelBuilder &kernel);

/// Synchronises all threads of the block and makes their writes visible.
void waitForBlock(KernelBuilder &kernel);

/// The same for the first `count` threads, of whole warps.
void waitForThreads(KernelBuilder &kernel, int64_t count);

/// The same of the cluster.
void waitForCluster(KernelBuilder &kernel);

/// Synchronises all blocks of the grid, which must be resident together, and
/// makes their writes visible.
void waitForGrid(KernelBuilder &kernel, mlir::ModuleOp module);

/// A block of so many threads as a team, and the group of this thread as one.
Team blockTeam(KernelBuilder &kernel, int64_t threads);
Team groupTeam(KernelBuilder &kernel);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PROGRAM_THREADS_H
