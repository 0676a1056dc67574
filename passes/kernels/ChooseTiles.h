//===- ChooseTiles.h - products in small tiles ------------------*- C++ -*-===//

#ifndef FOVEA_PASSES_KERNELS_CHOOSETILES_H
#define FOVEA_PASSES_KERNELS_CHOOSETILES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Whether `attn-choose-tiles` found that large tiles of this product would be
/// few.
bool hasSmallTiles(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_CHOOSETILES_H
