//===- VectorIndex.h - along which index there are vectors ----------------===//

#ifndef FOVEA_PASSES_ANALYSIS_VECTORINDEX_H
#define FOVEA_PASSES_ANALYSIS_VECTORINDEX_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// How many partial results a reduction within an element has, on every machine
/// and in every precision: element i of one of its indices belongs to number i
/// mod 16, and in the end they are combined by halves. That is one vector of
/// 512 bits in f32, two of 256, four of 128.
constexpr unsigned partialResults = 16;

/// The order in which a reduction adds up, part of the equation from the phase
/// `fuse` on: the index whose elements have partial results
/// (`attn-order-sums`). Without one there is one chain for each element.
constexpr llvm::StringLiteral partialName = "attn.partial";
/// That index of `op`; -1 for none.
int partialIndex(ComputeOp op);

/// What `partialIndex` should be: a reduction index whose neighbours are read
/// one beside the other, of a reducer whose partial results can be combined,
/// where no parallel index serves vectors better; -1 for none.
int bestPartialIndex(ComputeOp op);

/// The index of `op` whose neighbours share a vector, or -1 when they are
/// better computed one by one: the one with partial results, or the last
/// parallel index, so that results are stored as vectors, where `isAllowed`
/// says that it may be. No order depends on the latter.
int vectorIndex(ComputeOp op, llvm::function_ref<bool(unsigned)> isAllowed);
/// Where every index may be it.
int vectorIndex(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_VECTORINDEX_H
