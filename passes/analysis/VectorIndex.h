//===- VectorIndex.h - along which index there are vectors ----------------===//

#ifndef FOVEA_PASSES_ANALYSIS_VECTORINDEX_H
#define FOVEA_PASSES_ANALYSIS_VECTORINDEX_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The number of partial results of a reduction within an element, on every
/// machine and in every precision. Element i of one of its indices belongs to
/// partial result i mod 16, and the partial results are combined pairwise by
/// halves. That is one vector of 512 bits in f32, two of 256, four of 128.
constexpr unsigned partialResults = 16;

/// The index of `op` with partial results, according to its order; -1 for
/// none.
int partialIndex(ComputeOp op);

/// Returns whether `op` adds its product with one rounding: according to its
/// order; without one (a sum over the examples, or a test) always.
bool isFused(ComputeOp op);

/// Chooses the value of `partialIndex` for a sum that is not a product. It must
/// be a reduction index with contiguous reads, of a reducer with combinable
/// partial results, and no parallel index may be better for vectors. -1 for
/// none.
int bestPartialIndex(ComputeOp op);

/// Returns the vectorised index of `op`, or -1 if scalar code is better: the
/// index with partial results, or the last parallel index, if `isAllowed`
/// accepts it, so that results are stored as vectors. No order depends on the
/// latter.
int vectorIndex(ComputeOp op, llvm::function_ref<bool(unsigned)> isAllowed);
/// The same with every index allowed.
int vectorIndex(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_VECTORINDEX_H
