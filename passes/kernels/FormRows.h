//===- FormRows.h - equations that are computed example by example --------===//

#ifndef FOVEA_PASSES_KERNELS_FORMROWS_H
#define FOVEA_PASSES_KERNELS_FORMROWS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Equations of a loop's body that nothing which costs a launch stands between,
/// with the views of what they give, in order: several equations each time.
using RunOfRows = llvm::SmallVector<mlir::Operation *>;
llvm::SmallVector<RunOfRows> runsOfRows(mlir::Block &body);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_FORMROWS_H
