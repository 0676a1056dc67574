//===- TileKeys.h - attention of some keys at a time ----------------------===//

#ifndef FOVEA_PASSES_KERNELS_TILEKEYS_H
#define FOVEA_PASSES_KERNELS_TILEKEYS_H

#include "passes/analysis/Product.h"

namespace fovea::attn {

/// The keys of a tile.
constexpr int64_t keysOfTile = 64;

/// The attention that a kernel in strips is: scores, which are a product of
/// queries and keys; what is computed of each score by itself; their softmax;
/// what it reads; and what follows for each row.
struct Attention {
  ComputeOp score;
  llvm::SmallVector<ComputeOp> between;
  ComputeOp weights, read;
  llvm::SmallVector<ComputeOp> after;
};

/// Nothing where the kernel is anything else, or somebody outside reads its
/// pairs.
std::optional<Attention> attentionIn(KernelOp kernel);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_TILEKEYS_H
