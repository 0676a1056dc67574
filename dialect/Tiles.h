//===- Tiles.h - the tiles of products --------------------------*- C++ -*-===//
//
// `attn.tile` of a product says in which tiles a GPU computes it, and
// `attn.cluster` how many blocks share what they fetch. What is not written is
// a medium tile, and blocks that share nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_TILES_H
#define FOVEA_DIALECT_TILES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Small ones where medium ones would be few, large ones where even these are
/// many, and any where the launch alone knows that. `group` and `wide` are of
/// copies of rounded factors, and multiplied by groups of four warps.
enum class Tiles { small, medium, large, any, group, wide };
Tiles tilesOf(mlir::Operation *op);
void setTiles(mlir::Operation *op, Tiles tiles);

/// Whether groups of four warps multiply.
inline bool isByGroups(Tiles tiles) {
  return tiles == Tiles::group || tiles == Tiles::wide;
}

/// How many blocks share what they fetch: tiles below each other; 1: none.
int64_t clusterOf(mlir::Operation *op);
void setCluster(mlir::Operation *op, int64_t blocks);

/// Part of the verification of attributes: that `op` can have this tile, or
/// this cluster. Anything else is none of its business.
mlir::LogicalResult verifyTiles(mlir::Operation *op,
                                mlir::NamedAttribute named);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_TILES_H
