//===- ChooseTiles.cpp - the tiles of products ----------------------------===//
//
// A GPU computes a matrix product tile by tile, each on one of its processors.
// A large tile reads less per operation, but a product of few rows has few
// tiles, and most processors would be idle. Each element is one chain of terms
// in any tile, so tiles change no bits.
//
//===----------------------------------------------------------------------===//

#include "targets/nvidia/ChooseTiles.h"
#include "dialect/Precision.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/memory/Copies.h"
#include "targets/nvidia/Passes.h"
#include "targets/nvidia/Target.h"
#include "targets/nvidia/Tiles.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_CHOOSETILES
#include "targets/nvidia/Passes.h.inc"
} // namespace fovea::attn

/// The side of a medium tile, and the assumed number of examples in a
/// batch.
static constexpr int64_t mediumSide = 64, examples = 64;

/// The rows of a product, if they do not grow with the lengths of examples.
static std::optional<int64_t> rowsOf(ComputeOp op, const RowsProduct &product) {
  if (!product.isByRows())
    return product.count;
  int64_t rows = batchOf(op) == BatchKind::each ? examples : 1;
  for (unsigned index : productOf(op).getRows()) {
    auto extent = dyn_cast<IntegerAttr>(op.getExtents()[index]);
    if (!extent)
      return std::nullopt;
    rows *= extent.getInt();
  }
  return rows;
}

static int64_t count(int64_t side, int64_t rows, int64_t columns) {
  return llvm::divideCeil(rows, side) * llvm::divideCeil(columns, side);
}

/// For rounded factors. A wide tile reads less per operation, but there are
/// half as many. With a row per word, only the columns decide whether there are
/// enough.
static Tiles roundedTilesFor(ComputeOp op, NvidiaTargetAttr target) {
  constexpr int64_t leastColumns = 2048;
  std::optional<RowsProduct> product = rowsProductOf(op);
  if (!product || op->getParentOfType<ScanOp>() ||
      product->columns() < largeSide)
    return Tiles::medium;
  if (target.getGroupColumns() == 0 || !readsCopies(op))
    return Tiles::large;
  int64_t columns = product->columns();
  bool isWide = columns >= leastColumns;
  if (std::optional<int64_t> rows = rowsOf(op, *product))
    isWide = llvm::divideCeil(*rows, target.getCopyRows()) *
                 llvm::divideCeil(columns, target.getGroupColumns()) >=
             leastLargeTiles;
  return isWide ? Tiles::wide : Tiles::group;
}

static Tiles tilesFor(ComputeOp op) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  bool isInLoop = op->getParentOfType<ScanOp>() != nullptr;
  // For each example: a step has few.
  if (!product)
    return isInLoop ? Tiles::small : Tiles::medium;
  int64_t columns = product->columns();
  std::optional<int64_t> rows = rowsOf(op, *product);
  if (!rows)
    return isInLoop ? Tiles::medium : Tiles::any;
  if (count(mediumSide, *rows, columns) < leastTiles)
    return Tiles::small;
  // The part of a tile beyond the last row or column is wasted work.
  return *rows >= largeSide && columns >= largeSide &&
                 count(largeSide, *rows, columns) >= leastLargeTiles
             ? Tiles::large
             : Tiles::medium;
}

namespace {
struct ChooseTiles : fovea::attn::impl::ChooseTilesBase<ChooseTiles> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    NvidiaTargetAttr target = nvidiaTargetOf(getOperation());
    if (!target)
      return;
    getOperation().walk([&](ComputeOp op) {
      // A kernel of several equations has its own tiles.
      if (!productOf(op) || op->getParentOfType<KernelOp>())
        return;
      Tiles tiles =
          precisionOf(op) ? roundedTilesFor(op, target) : tilesFor(op);
      setTiles(op, tiles, isByGroups(tiles) ? target.getClusterBlocks() : 1);
    });
  }
};
} // namespace
