//===- FoldConstants.h - arithmetic on constants --------------------------===//

#ifndef FOVEA_PASSES_DERIVE_FOLDCONSTANTS_H
#define FOVEA_PASSES_DERIVE_FOLDCONSTANTS_H

#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir {
class Operation;
class Region;
} // namespace mlir

namespace fovea::attn {

/// Folds `op` and what is inside it, except functions that MLIR would take from
/// the host's libm. Returns whether anything changed.
bool foldConstants(mlir::Operation *op);

/// Folds in turn with rewriting by `patterns`, until neither changes anything.
void foldConstants(mlir::Operation *op,
                   const mlir::FrozenRewritePatternSet &patterns);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_FOLDCONSTANTS_H
