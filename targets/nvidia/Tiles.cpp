//===- Tiles.cpp - the tiles of products ----------------------------------===//

#include "targets/nvidia/Tiles.h"
#include "dialect/Precision.h"

using namespace mlir;
using namespace fovea::attn;

static constexpr StringLiteral tileName = "attn.tile",
                               clusterName = "attn.cluster";
static constexpr std::pair<Tiles, StringLiteral> written[] = {
    {Tiles::small, "small"},
    {Tiles::large, "large"},
    {Tiles::any, "any"},
    {Tiles::group, "group"},
    {Tiles::wide, "wide"}};

static std::optional<Tiles> tilesNamed(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  for (auto [tiles, name] : written)
    if (text && text.getValue() == name)
      return tiles;
  return std::nullopt;
}

Tiles fovea::attn::tilesOf(Operation *op) {
  return tilesNamed(op->getAttr(tileName)).value_or(Tiles::medium);
}

void fovea::attn::setTiles(Operation *op, Tiles chosen) {
  for (auto [tiles, name] : written)
    if (tiles == chosen)
      op->setAttr(tileName, StringAttr::get(op->getContext(), name));
}

int64_t fovea::attn::clusterOf(Operation *op) {
  auto blocks = op->getAttrOfType<IntegerAttr>(clusterName);
  return blocks ? blocks.getInt() : 1;
}

void fovea::attn::setCluster(Operation *op, int64_t blocks) {
  if (blocks > 1)
    op->setAttr(clusterName,
                Builder(op->getContext()).getI64IntegerAttr(blocks));
}

LogicalResult fovea::attn::verifyTiles(Operation *op, NamedAttribute named) {
  if (named.getName() == tileName) {
    if (!tilesNamed(named.getValue()))
      return op->emitOpError() << "unsupported tile " << named.getValue()
                               << "; expected \"small\", \"large\", \"any\", "
                                  "\"group\" or \"wide\"";
    if (!op->hasAttr("attn.product"))
      return op->emitOpError() << "only a matrix product can have a tile size";
    if (isByGroups(tilesOf(op)) && !precisionOf(op))
      return op->emitOpError()
             << "has the tile " << named.getValue()
             << ", but its factors are not rounded; help: give the product "
                "'attn.precision = bf16', or another tile";
  }
  if (named.getName() == clusterName) {
    // Copies are padded to two tiles (passes/memory/Copies.h).
    if (named.getValue() != Builder(op->getContext()).getI64IntegerAttr(2))
      return op->emitOpError()
             << "cluster size must be 2, got " << named.getValue();
    if (!isByGroups(tilesOf(op)))
      return op->emitOpError()
             << "a cluster needs the tile \"group\" or \"wide\"";
  }
  return success();
}
