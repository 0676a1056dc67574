//===- ChooseTiles.h - products in small tiles ------------------*- C++ -*-===//

#ifndef FOVEA_PASSES_KERNELS_CHOOSETILES_H
#define FOVEA_PASSES_KERNELS_CHOOSETILES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The tiles that `attn-choose-tiles` found for a product: small ones where
/// large ones would be few, and either where the launch alone knows that.
enum class Tiles { large, small, either };
Tiles tilesOf(ComputeOp op);

/// With fewer large tiles than this, small ones are better.
constexpr int64_t leastLargeTiles = 64;

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_CHOOSETILES_H
