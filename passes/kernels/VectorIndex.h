//===- VectorIndex.h - along which index there are vectors ----------------===//

#ifndef FOVEA_PASSES_KERNELS_VECTORINDEX_H
#define FOVEA_PASSES_KERNELS_VECTORINDEX_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The index of `op` whose neighbours share a vector of `lanes` elements, or
/// -1 when they are better computed one by one. It is the last parallel index,
/// so that results are stored as vectors, or a reduction index of a reducer
/// whose partial results can be combined. What decides: how many reads are of
/// neighbouring elements, and how many would be gathers. `isAllowed` says
/// whether an index may be it.
int vectorIndex(ComputeOp op, unsigned lanes,
                llvm::function_ref<bool(unsigned)> isAllowed);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_VECTORINDEX_H
