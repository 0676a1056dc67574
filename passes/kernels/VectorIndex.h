//===- VectorIndex.h - along which index there are vectors ----------------===//

#ifndef FOVEA_PASSES_KERNELS_VECTORINDEX_H
#define FOVEA_PASSES_KERNELS_VECTORINDEX_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// How many partial results a reduction within an element has, on every machine
/// and in every precision: element i of the index along which there are vectors
/// belongs to number i mod 16, and in the end they are combined by halves. That
/// is one vector of 512 bits in f32, two of 256, four of 128.
constexpr unsigned partialResults = 16;

/// The index of `op` whose neighbours share a vector, or -1 when they are
/// better computed one by one: the same on every machine, as it decides the
/// order of sums. It is the last parallel index, so that results are stored as
/// vectors, or a reduction index of a reducer whose partial results can be
/// combined. What decides: how many reads are of neighbouring elements, and how
/// many would be gathers. `isAllowed` says whether an index may be it.
int vectorIndex(ComputeOp op, llvm::function_ref<bool(unsigned)> isAllowed);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_VECTORINDEX_H
