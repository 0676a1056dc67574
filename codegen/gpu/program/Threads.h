//===- Threads.h - the threads of a GPU -------------------------*- C++ -*-===//
//
// A block has 128 threads (32 where units are few and long), in groups of 16:
// as many as a reduction has partial results (codegen/kernel). A small work
// unit is a group's, a large one a block's.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PROGRAM_THREADS_H
#define FOVEA_CODEGEN_GPU_PROGRAM_THREADS_H

#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

constexpr int64_t groupThreads = 16;
constexpr int64_t blockThreads = 128;

/// What a thread knows of itself, as i64.
mlir::Value threadInBlock(KernelBuilder &kernel);
mlir::Value blockNumber(KernelBuilder &kernel);
mlir::Value numBlocks(KernelBuilder &kernel);

/// Which block of its cluster this is, and how many these are: one where nobody
/// asked for clusters.
mlir::Value blockInCluster(KernelBuilder &kernel);
mlir::Value blocksOfCluster(KernelBuilder &kernel);

/// All threads of the block have arrived, and see what each has written.
void waitForBlock(KernelBuilder &kernel);

/// The same of the first `count` threads, of whole warps.
void waitForThreads(KernelBuilder &kernel, int64_t count);

/// The same of the cluster.
void waitForCluster(KernelBuilder &kernel);

/// All blocks of the grid have arrived, and see what each has written: they are
/// there at the same time.
void waitForGrid(KernelBuilder &kernel, mlir::ModuleOp module);

/// A block of so many threads as a team, and the group of this thread as one.
Team blockTeam(KernelBuilder &kernel, int64_t threads);
Team groupTeam(KernelBuilder &kernel);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PROGRAM_THREADS_H
