//===- ShareLoops.h - sums that one loop computes -------------------------===//

#ifndef FOVEA_PASSES_KERNELS_SHARELOOPS_H
#define FOVEA_PASSES_KERNELS_SHARELOOPS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// `op` and the sums right after it that one loop can compute with it.
llvm::SmallVector<ComputeOp> sharingLoop(ComputeOp op);

/// The blocks of a program in which loops are shared: its own, and those of
/// kernels in strips.
llvm::SmallVector<mlir::Block *> blocksOfLoops(ProgramOp program);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_SHARELOOPS_H
