//===- Factors.h - the factors of a sum of a product ----------------------===//
//
// Splits a sum of a product into its factors, including those of outer products
// that it reads, and the conditions under which it adds anything. Each has the
// indices of the sum that it depends on.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_DERIVE_FACTORS_H
#define FOVEA_PASSES_DERIVE_FACTORS_H

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

  /// The read of an array at indices of the sum that is the whole value, or
  /// null.
  ReadOp plainRead() const;
  /// Materialises the value at `places`, one for each index of the sum, null if
  /// unused, at the end of the builder's block.
  mlir::Value cloneAt(mlir::OpBuilder &builder,
                      llvm::ArrayRef<mlir::Value> places) const;
};

struct FactoredSum {
  /// What is multiplied.
  llvm::SmallVector<Part, 0> factors;
  /// The conditions under which the sum adds anything.
  llvm::SmallVector<Part, 0> conditions;
  /// Whether the whole product is negated.
  bool isNegated = false;
  /// The indices of each factor of the original sum, as bits.
  llvm::SmallVector<uint64_t> written;
  /// The equations that were replaced by their factors, inner ones first.
  llvm::SmallVector<ComputeOp> outerProducts;
};

/// Returns the factors of a sum of a product: at least two, and at most
/// `maxFactors`. Nothing if a condition determines a place (`token[t] == w`).
std::optional<FactoredSum> factorsOf(ComputeOp sum, unsigned maxFactors);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_FACTORS_H
