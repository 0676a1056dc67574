//===- LinearForm.h - what index arithmetic adds up -----------------------===//
//
// Decomposes sums, differences and products with numbers: the only way to look
// into an index. The caller interprets the terms.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_CONDITIONS_LINEARFORM_H
#define FOVEA_DIALECT_CONDITIONS_LINEARFORM_H

#include "dialect/AttnForward.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"

namespace fovea::attn {

/// A linear combination of values with nonzero factors, plus a number.
struct LinearForm {
  llvm::SmallMapVector<mlir::Value, int64_t, 4> terms;
  int64_t constant = 0;

  /// `value`, an index or a whole number; what no arithmetic gives is a term.
  /// Nothing if the expression is too large to examine, or a number overflows
  /// 64 bits.
  static std::optional<LinearForm> of(mlir::Value value);
  /// The same where every term is an index of `op`.
  static std::optional<LinearForm> ofIndices(mlir::Value value, ComputeOp op);

  int64_t factorOf(mlir::Value term) const { return terms.lookup(term); }
};

} // namespace fovea::attn

#endif // FOVEA_DIALECT_CONDITIONS_LINEARFORM_H
