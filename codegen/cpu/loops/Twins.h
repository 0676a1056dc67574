//===- Twins.h - sums that one loop computes ------------------------------===//
//
// Sums one behind the other that have the same indices and evaluate the same
// functions are one kernel: each has its own accumulators, and what both
// evaluate is evaluated once (passes/fuse/JoinSums.cpp brings them together).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_LOOPS_TWINS_H
#define FOVEA_CODEGEN_CPU_LOOPS_TWINS_H

#include "codegen/cpu/program/Storage.h"

namespace fovea::codegen {

/// `op` and the sums right behind it that are computed with it.
llvm::SmallVector<attn::ComputeOp> twinsFrom(attn::ComputeOp op,
                                             const StorageMap &storage);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_LOOPS_TWINS_H
