//===- Tiles.cpp - the tiles of products ----------------------------------===//

#include "targets/nvidia/Tiles.h"
#include "dialect/Precision.h"

using namespace mlir;
using namespace fovea::attn;

Tiles fovea::attn::tilesOf(Operation *op) {
  auto tiles = op->getAttrOfType<NvidiaTilesAttr>(configName);
  return tiles ? tiles.getKind() : Tiles::medium;
}

int64_t fovea::attn::clusterOf(Operation *op) {
  auto tiles = op->getAttrOfType<NvidiaTilesAttr>(configName);
  return tiles ? tiles.getCluster() : 1;
}

void fovea::attn::setTiles(Operation *op, Tiles tiles, int64_t cluster) {
  if (tiles != Tiles::medium)
    op->setAttr(configName,
                NvidiaTilesAttr::get(op->getContext(), tiles, cluster));
}

LogicalResult NvidiaTilesAttr::verifyConfig(Operation *op) const {
  if (!op->hasAttr("attn.product"))
    return op->emitOpError() << "only a matrix product can have a tile size";
  // Copies are padded to two tiles (passes/memory/Copies.h).
  if (getCluster() != 1 && getCluster() != 2)
    return op->emitOpError() << "cluster size must be 2, got " << getCluster();
  if (getCluster() != 1 && !isByGroups(getKind()))
    return op->emitOpError() << "a cluster needs the tiles 'group' or 'wide'";
  if (isByGroups(getKind()) && !precisionOf(op))
    return op->emitOpError()
           << "has the tiles '" << stringifyTiles(getKind())
           << "', but its factors are not rounded; help: give the product "
              "'attn.precision = bf16', or other tiles";
  return success();
}
