//===- Orders.h - the order in which an equation adds up ------------------===//
//
// The one function that decides an order. It looks at the equation alone:
// never at a machine, a batch or a pass. `attn-order-equations` asks it for
// what is written, and `attn-order-sums` for derivatives. No other file makes
// an order; others only follow the indices of one (Equations.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_ORDERS_H
#define FOVEA_PASSES_ANALYSIS_ORDERS_H

#include "dialect/AttnDialect.h"
#include "llvm/ADT/DenseSet.h"

namespace fovea::attn {

/// The arrays of a system, or of a program, that differ between the examples of
/// a batch: data, choices, samples, and everything that depends on them.
class Examples {
public:
  explicit Examples(SystemOp system);
  /// After the phase `batch`.
  explicit Examples(ProgramOp program) : isBatched(true) {}

  bool areBatched() const { return isBatched; }
  bool has(mlir::Value array) const;
  /// `other` takes the place of `array`.
  void replace(mlir::Value array, mlir::Value other) {
    if (has(array))
      found.insert(other);
  }

private:
  bool isBatched = false;
  llvm::DenseSet<mlir::Value> found;
};

/// The product that the body of a sum yields; null for none.
mlir::arith::MulFOp productIn(ComputeOp op);

/// Returns whether a sum of products has the shape of a matrix product: each
/// factor depends on indices of the result, or on the example, that the other
/// lacks, and there are enough of these and of terms.
bool isLikeMatrixProduct(ComputeOp op, const Examples &examples);

/// The order of an equation, a function of its present form. `blocks` are the
/// numbers of blocks of places that a search completes one by one.
OrderAttr orderOf(ComputeOp op, const Examples &examples,
                  const llvm::DenseSet<mlir::Attribute> &blocks = {});

/// The order of a sum that a search carries from step to step: one term after
/// the other, each rounded.
OrderAttr orderInSteps(mlir::MLIRContext *context);

/// An order of a maximum or minimum, whose bits do not depend on it: the one
/// with the best vectors.
OrderAttr orderOfExtreme(ComputeOp op);

/// Returns whether a sum with the order of a matrix product multiplies rows of
/// the examples with a parameter, and is large: or, after the phase `batch`, is
/// the sum over the examples that the gradient of a parameter is.
bool isLargeProduct(ComputeOp op, const Examples &examples);

/// `order`, where each product is rounded before it is added.
OrderAttr withoutFusing(OrderAttr order);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_ORDERS_H
