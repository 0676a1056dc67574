//===- Equations.h - equations as passes find and make them ---------------===//

#ifndef FOVEA_PASSES_EQUATIONS_H
#define FOVEA_PASSES_EQUATIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// An equation named as `like`, over those of its indices that `indices` says,
/// in that order, of which the first `numParallel` are those of the result. Its
/// regions are empty blocks.
ComputeOp makeOver(mlir::OpBuilder &builder, ComputeOp like,
                   llvm::ArrayRef<unsigned> indices, unsigned numParallel,
                   Reducer reducer, bool hasCondition = false);

/// The array that an equation copies, element by element; null when it computes
/// something.
mlir::Value copiedBy(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_EQUATIONS_H
