//===- Reducers.h - what a reducer adds to an adjoint ---------------------===//

#ifndef FOVEA_DIALECT_ADJOINTS_REDUCERS_H
#define FOVEA_DIALECT_ADJOINTS_REDUCERS_H

#include "dialect/conditions/Conditions.h"

namespace fovea::attn {

/// From the adjoint of a compute's result to the adjoint of its body's value.
/// Auxiliary arrays (such as the sum of a softmax's adjoint) are separate
/// computes, made once per op.
class ReducerAdjoint {
public:
  ReducerAdjoint(ComputeOp op, mlir::OpBuilder &builder, mlir::Value adjoint)
      : op(op), builder(builder), adjoint(adjoint) {}

  /// Makes the arrays that `require` and `seed` read. Call once, outside of any
  /// body.
  void prepare();
  /// Requires, in addition to the op's own condition, that the place
  /// contributes to the result. `at` are the values of the op's indices.
  void require(mlir::OpBuilder &body, mlir::ValueRange at,
               Conjunction &condition);
  /// The adjoint of the body's value at a place.
  mlir::Value seed(mlir::OpBuilder &body, mlir::ValueRange at,
                   llvm::function_ref<mlir::Value()> value);

private:
  using Fill = llvm::function_ref<mlir::Value(
      mlir::OpBuilder &, mlir::ValueRange at, mlir::ValueRange others)>;
  mlir::Value helper(Reducer reducer, unsigned numKept, mlir::Type elementType,
                     bool again, Fill condition, Fill body);
  mlir::Value share(mlir::OpBuilder &body, mlir::Value b, mlir::ValueRange at,
                    mlir::Value divisor = {});
  mlir::Value read(mlir::OpBuilder &body, mlir::Value array,
                   mlir::ValueRange at) {
    return ReadOp::create(
        body, op.getLoc(), array,
        at.take_front(llvm::cast<ArrayType>(array.getType()).getRank()));
  }

  ComputeOp op;
  mlir::OpBuilder &builder;
  mlir::Value adjoint;
  mlir::Value extra;
};

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ADJOINTS_REDUCERS_H
