//===- FormRows.h - equations that are computed example by example --------===//

#ifndef FOVEA_PASSES_KERNELS_FORMROWS_H
#define FOVEA_PASSES_KERNELS_FORMROWS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The bodies of a program's loops, and the program's own body if it runs again
/// and again.
llvm::SmallVector<mlir::Block *> blocksOfRows(ProgramOp program);

/// Returns the runs of equations, and of joined or appended rows, that need no
/// launch in between, with the views of their results. They are in order, and
/// each run has several launches.
using RunOfRows = llvm::SmallVector<mlir::Operation *>;
llvm::SmallVector<RunOfRows> runsOfRows(mlir::Block &body);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_FORMROWS_H
