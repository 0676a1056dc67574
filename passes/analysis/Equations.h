//===- Equations.h - equations as passes find and make them ---------------===//

#ifndef FOVEA_PASSES_ANALYSIS_EQUATIONS_H
#define FOVEA_PASSES_ANALYSIS_EQUATIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// An equation named as `like`, over those of its indices that `indices` says,
/// in that order, of which the first `numParallel` are those of the result. Its
/// regions are empty blocks.
ComputeOp makeOver(mlir::OpBuilder &builder, ComputeOp like,
                   llvm::ArrayRef<unsigned> indices, unsigned numParallel,
                   Reducer reducer, bool hasCondition = false);

/// What `read`, in the body of `op` and in no branch, finds, as an equation
/// over those indices of `op` that it depends on, in the order of `indices`.
ComputeOp makeRows(mlir::OpBuilder &builder, ReadOp read, ComputeOp op,
                   llvm::ArrayRef<unsigned> indices);

/// Lets the place of `read` be read from `rows`, which is made of it.
void readRows(ReadOp read, ComputeOp op, ComputeOp rows,
              llvm::ArrayRef<unsigned> indices);

/// array[.., axes[0], axes[1], ..], as an equation after `array`.
ComputeOp makeTurned(mlir::Value array, llvm::ArrayRef<unsigned> axes);

/// The array that an equation copies, element by element; null when it computes
/// something.
mlir::Value copiedBy(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_EQUATIONS_H
