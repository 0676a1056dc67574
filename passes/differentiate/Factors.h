//===- Factors.h - the factors of a sum of a product ----------------------===//
//
// Takes a sum of a product apart: its factors, those of outer products that it
// reads, and the conditions under which it adds anything, each with the indices
// of the sum that it depends on.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_DIFFERENTIATE_FACTORS_H
#define FOVEA_PASSES_DIFFERENTIATE_FACTORS_H

#include "dialect/AttnDialect.h"

namespace mlir {
class IRMapping;
}

namespace fovea::attn {

/// A value in a region of `source`, whose index i is index `map[i]` of the sum.
struct Part {
  ComputeOp source;
  mlir::Value value;
  llvm::SmallVector<unsigned> map;
  /// The indices of the sum that it needs, as bits.
  uint64_t indices = 0;

  /// The read of an array at indices of the sum that is all of it, or null.
  ReadOp plainRead() const;
  /// The value at `places`, which are those of all indices of the sum, null
  /// where it needs none, at the end of the builder's block.
  mlir::Value cloneAt(mlir::OpBuilder &builder,
                      llvm::ArrayRef<mlir::Value> places) const;
};

struct FactoredSum {
  /// What is multiplied.
  llvm::SmallVector<Part, 0> factors;
  /// What has to hold where the sum adds anything.
  llvm::SmallVector<Part, 0> conditions;
  /// Whether all of it has the other sign.
  bool isNegated = false;
  /// The indices of each factor as the sum is written, as bits.
  llvm::SmallVector<uint64_t> written;
  /// The equations whose factors stand in their place, inner ones first.
  llvm::SmallVector<ComputeOp> outerProducts;
};

/// The factors of a sum of a product of at least two, and at most `maxFactors`
/// of them. Nothing where a condition finds a place (`token[t] == w`).
std::optional<FactoredSum> factorsOf(ComputeOp sum, unsigned maxFactors);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DIFFERENTIATE_FACTORS_H
