//===- Tiles.h - the tiles of products --------------------------*- C++ -*-===//
//
// The configuration `#nvidia.tiles` of a product (Target.td).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_TILES_H
#define FOVEA_TARGETS_NVIDIA_TILES_H

#include "targets/nvidia/Target.h"

namespace fovea::attn {

/// Returns the tiles of a product: medium ones if it has no configuration.
Tiles tilesOf(mlir::Operation *op);
void setTiles(mlir::Operation *op, Tiles tiles, int64_t cluster = 1);

/// Returns whether warp groups multiply.
inline bool isByGroups(Tiles tiles) {
  return tiles == Tiles::group || tiles == Tiles::wide;
}

/// The cluster size: vertically adjacent tiles share their fetches; 1: no
/// cluster.
int64_t clusterOf(mlir::Operation *op);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_TILES_H
