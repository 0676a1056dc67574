//===- ReadMeans.h - the mean of what is read at a place that is drawn ----===//

#ifndef FOVEA_PASSES_DERIVE_READMEANS_H
#define FOVEA_PASSES_DERIVE_READMEANS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Replaces reads of an array of numbers at the category that `choice` draws by
/// the expectation with `weights`. These have the choice's axes and the axis of
/// the categories; for a bit or a number the weights replace the value itself.
/// With `coin`, a bit, only where the bit is set. Any other use is an error
/// that names `kind`, the estimator or treatment that needs expectations.
llvm::LogicalResult readMeansOf(ChoiceOp choice, llvm::StringRef kind,
                                mlir::Value weights, mlir::Value coin);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_READMEANS_H
