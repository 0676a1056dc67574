//===- Tiles.h - the tiles of products --------------------------*- C++ -*-===//
//
// `attn.tile` of a product says in which tiles a GPU computes it, and
// `attn.cluster` how many blocks share what they fetch. What is not written is
// a medium tile, and blocks that share nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_TILES_H
#define FOVEA_TARGETS_NVIDIA_TILES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Small tiles if there would be few medium ones, large tiles if even these are
/// many, and any if only the launch knows. `group` and `wide` are for copies of
/// rounded factors, multiplied by warp groups.
enum class Tiles { small, medium, large, any, group, wide };
Tiles tilesOf(mlir::Operation *op);
void setTiles(mlir::Operation *op, Tiles tiles);

/// Returns whether warp groups multiply.
inline bool isByGroups(Tiles tiles) {
  return tiles == Tiles::group || tiles == Tiles::wide;
}

/// The cluster size: vertically adjacent tiles share their fetches; 1: no
/// cluster.
int64_t clusterOf(mlir::Operation *op);
void setCluster(mlir::Operation *op, int64_t blocks);

/// Part of attribute verification: checks that `op` can have this tile, or this
/// cluster. Ignores all other attributes.
mlir::LogicalResult verifyTiles(mlir::Operation *op,
                                mlir::NamedAttribute named);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_TILES_H
