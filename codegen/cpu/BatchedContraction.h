//===- BatchedContraction.h - a matrix product per example ----------------===//
//
// Recognises sums of products that are a matrix product within each example,
// once for each place of the indices that both factors share: the scores of
// attention, what it reads, and the adjoints of both.
//
//   C[h.., m, n] = sum[k](A[h.., m, k] * B[h.., n, k])
//
// or the sum of these over the examples. The axes of A and B may stand in any
// order. See Contraction.h for products
// over the rows of a whole batch.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_BATCHEDCONTRACTION_H
#define FOVEA_CODEGEN_CPU_BATCHEDCONTRACTION_H

#include "dialect/AttnDialect.h"

namespace fovea::codegen {

/// index <= other + above, and other <= index + below; nothing: no bound.
struct Band {
  std::optional<int64_t> below, above;
  bool isWhole() const { return !below && !above; }
};

struct BatchedContraction {
  attn::ReadOp left, right; // A and B
  /// The index of the op that each axis of A and of B is.
  llvm::SmallVector<unsigned> leftAxes, rightAxes;
  /// Indices of the op; n is its last parallel one.
  unsigned m = 0, n = 0, k = 0;
  /// All other indices, each place of which has a product of its own.
  llvm::SmallVector<unsigned> outer;
  /// Where A is not zero: k as seen from m. What lies outside adds nothing.
  Band terms;
  /// Where C is not zero: n as seen from m.
  Band columns;
};

/// Whether a length varies inside of an example.
bool isNested(mlir::Attribute extent, attn::ProgramOp program);

/// The products that `op` is, if it is any and they are worth it: an equation
/// in no loop. Behind the phase `batch`.
std::optional<BatchedContraction> batchedContractionOf(attn::ComputeOp op);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_BATCHEDCONTRACTION_H
