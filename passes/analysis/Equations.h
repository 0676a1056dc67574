//===- Equations.h - equations as passes find and make them ---------------===//

#ifndef FOVEA_PASSES_ANALYSIS_EQUATIONS_H
#define FOVEA_PASSES_ANALYSIS_EQUATIONS_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {

/// The order of `from` for an equation whose index number i is its index
/// `indices[i]`, from `numParallel` on those of its sum; null where it reduces
/// over other indices.
OrderAttr orderOver(ComputeOp from, llvm::ArrayRef<unsigned> indices,
                    unsigned numParallel);

/// `order`, where the equation has `count` more indices ahead of those of its
/// sum, or less.
OrderAttr movedBy(int64_t count, OrderAttr order);

/// Creates an equation named as `like`, over the indices of it that `indices`
/// lists, in that order; the first `numParallel` are those of the result. Its
/// regions are empty blocks. Keeps the order of `like` if it reduces the same
/// indices in the same way.
ComputeOp makeOver(mlir::OpBuilder &builder, ComputeOp like,
                   llvm::ArrayRef<unsigned> indices, unsigned numParallel,
                   Reducer reducer, bool hasCondition = false);

/// Creates an equation after `array` with the same axes. `map` makes each of
/// its elements from the one of the array.
ComputeOp mapElements(
    mlir::Value array, llvm::StringRef label,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> map);

/// Creates the equation `op` with its indices in another order; the axes of the
/// result follow the first of them. `op` stays.
ComputeOp reordered(mlir::OpBuilder &builder, ComputeOp op,
                    llvm::ArrayRef<unsigned> order);

/// The ops of `block` that a scalar depends on, in order.
llvm::SmallVector<mlir::Operation *> scalarsFor(mlir::Value scalar,
                                                mlir::Block *block);

/// A copy of a scalar of `block` for the indices that `values` has.
mlir::Value copyScalar(mlir::Value scalar, mlir::Block *block,
                       mlir::OpBuilder &at, mlir::IRMapping &values);

/// Turns the value of `read`, in the body of `op` and outside branches, into an
/// equation. Its indices are the indices of `op` that it depends on, in the
/// order of `indices`.
ComputeOp makeRows(mlir::OpBuilder &builder, ReadOp read, ComputeOp op,
                   llvm::ArrayRef<unsigned> indices);

/// Makes `read` read from `rows`, which is computed from it.
void readRows(ReadOp read, ComputeOp op, ComputeOp rows,
              llvm::ArrayRef<unsigned> indices);

/// Creates array[.., axes[0], axes[1], ..] as an equation after `array`.
ComputeOp makeTurned(mlir::Value array, llvm::ArrayRef<unsigned> axes);

/// Returns the array that an equation copies element by element; null if it
/// computes something.
mlir::Value copiedBy(ComputeOp op);

/// Returns whether an output is of the objective or of a search: it is not
/// merely asked for.
bool isOfObjective(OutputOp output);

/// Whether an equation gives the new values of a state: `update/code`, or
/// `update.once/code` if no example changes them.
bool isUpdate(llvm::StringRef equation);

/// Returns the outputs of the objective (or all others) with the ops that they
/// depend on. Marks steer a search and belong to it.
llvm::SetVector<mlir::Operation *> neededBy(SystemOp system, bool objective);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_EQUATIONS_H
