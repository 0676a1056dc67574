//===- ExposeProducts.h - factors that hide a matrix product ----------===//

#ifndef FOVEA_PASSES_FUSE_EXPOSEPRODUCTS_H
#define FOVEA_PASSES_FUSE_EXPOSEPRODUCTS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// A factor of a sum of products that is not a plain read of rows. An array
/// over some of the op's indices could be one.
struct HiddenRows {
  ReadOp read;
  llvm::SmallVector<unsigned> indices;
};

/// For a sum of products of two reads over the examples, and for rows times
/// weights; none for any other op. Valid after the phase `batch`.
llvm::SmallVector<HiddenRows> hiddenRows(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_FUSE_EXPOSEPRODUCTS_H
