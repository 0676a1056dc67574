//===- FormRows.h - equations that are computed example by example --------===//

#ifndef FOVEA_PASSES_KERNELS_FORMROWS_H
#define FOVEA_PASSES_KERNELS_FORMROWS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns the runs of equations in a loop's body without a launch between
/// them, with the views of their results, in order; each run has several
/// equations.
using RunOfRows = llvm::SmallVector<mlir::Operation *>;
llvm::SmallVector<RunOfRows> runsOfRows(mlir::Block &body);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_FORMROWS_H
