//===- Products.cpp - matrix products of a program on a GPU ---------------===//
//
// Blocks read both sides in place, except for large products in bf16
// (CopiedProduct.h). A unit is a tile of the rows of a batch. Within an
// example, it is the tiles of some rows at one place of the shared indices; for
// a sum over the examples, it is such tiles example by example.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/GpuScheduler.h"
#include "dialect/Precision.h"
#include "targets/nvidia/ChooseTiles.h"
#include "targets/nvidia/Tiles.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

static_assert(smallTile.rows == smallRows &&
              smallTile.columns == smallColumns &&
              smallTile.terms == termsOfPiece);

/// Sums of 64 bits would take all registers of a thread.
static bool hasLarge(Type element) { return element.isF32(); }

TileShape fovea::codegen::shapeOf(ComputeOp op, Type element, StringRef tile) {
  if (tile == "small")
    return smallTile;
  if (tile == "large")
    return largeTile;
  Tiles tiles = tilesOf(op);
  if (!tile.empty() || keptColumnsOf(op))
    return tile.empty() ? smallTile : TileShape();
  if (!precisionOf(op))
    return tiles == Tiles::small                        ? smallTile
           : tiles == Tiles::large && hasLarge(element) ? largeTile
                                                        : TileShape();
  constexpr TileShape small{
      .rows = 64, .columns = 64, .threads = 128, .isRounded = true},
      large{.rows = 128, .columns = 128, .threads = 256, .isRounded = true};
  return tiles == Tiles::medium ? small : large;
}

void GpuEmitter::emitProduct(ComputeOp op, RowsProduct product) {
  bool isRows = product.isByRows();
  ProductSize size = sizeOf(op);
  auto arrayAt = [&](KernelBuilder &b, Value frame, Value array,
                     int64_t first) {
    return b.at(real, b.pointerSlot(frame, storage.of(array).slot), first);
  };
  auto isInFours = [&](int64_t first, int64_t along, int64_t deep) {
    return deep == 1 && first % 4 == 0 && along % 4 == 0 && isRows &&
           product.count % 4 == 0;
  };
  auto sideOf = [&](KernelBuilder &b, Value frame, bool isLeft) {
    TileSide side;
    if (!isLeft) {
      side.base =
          arrayAt(b, frame, product.right.getArray(), product.rightFirst);
      side.along = b.number(product.columnStride);
      side.deep = b.number(product.rowStride);
      side.isInFours = isInFours(product.rightFirst, product.columnStride,
                                 product.rowStride);
      return side;
    }
    side.base = arrayAt(b, frame, product.left.getArray(), product.leftFirst);
    side.along = b.number(isRows ? product.leftWidth : 1);
    side.deep = b.number(isRows ? 1 : product.leftWidth);
    side.isInFours =
        isInFours(product.leftFirst, product.leftWidth, 1) && !size.rowList;
    if (size.rowList) {
      side.list = b.pointerSlot(frame, size.rowList->slot);
      side.listsTerms = !isRows;
      side.runs = product.gathered ? product.runs : 1;
      side.run = b.number(product.runLength);
      if (!product.gathered)
        side.run = b.slot(frame, size.termsSlot);
    }
    return side;
  };
  if (storage.packedLeftOf(op))
    return emitCopiedProduct(op, product, size);
  auto acrossOf = [&](const TileShape &shape) {
    return static_cast<int64_t>(
        llvm::divideCeil(product.columns(), shape.columns));
  };
  auto unitsOf = [&](const TileShape &shape) {
    return main.mul(main.divUp(size.rows, main.number(shape.rows)),
                    main.number(acrossOf(shape)));
  };
  auto tileOf = [&](KernelBuilder &b, Value frame, const TileShape &shape) {
    Tile tile;
    tile.memory = memory;
    tile.shape = shape;
    tile.element = real;
    tile.terms = b.slot(frame, size.termsSlot);
    tile.rows = b.slot(frame, size.rowsSlot);
    tile.columns = b.number(product.columns());
    tile.a = sideOf(b, frame, /*isLeft=*/true);
    tile.b = sideOf(b, frame, /*isLeft=*/false);
    tile.cRow = b.number(product.width);
    tile.c = arrayAt(b, frame, op.getResult(), product.first);
    return tile;
  };
  auto launchIn = [&](const TileShape &shape) {
    Value units = unitsOf(shape);
    launchTiles(op, units, shape, [&](KernelBuilder &b, Value frame, Value at) {
      Value across = b.number(acrossOf(shape));
      Tile tile = tileOf(b, frame, shape);
      tile.row = b.mul(b.div(at, across), b.number(shape.rows));
      tile.column = b.mul(b.rem(at, across), b.number(shape.columns));
      emitTile(b, tile);
    });
  };
  launchIn(shapeOf(op, real, run.getTile().value_or("")));
  if (keptColumnsOf(op))
    emitKept(op, tileOf);
}

/// The functions that a loop with kept columns calls for a strip of a product:
/// one loads its columns, one multiplies some rows by them.
void GpuEmitter::emitKept(
    ComputeOp op,
    llvm::function_ref<Tile(KernelBuilder &, Value, const TileShape &)>
        tileOf) {
  KernelBuilder b(op.getLoc(), module.getContext());
  int64_t terms = keptColumnsOf(op)->terms;
  auto function = [&](llvm::function_ref<void(Tile, ValueRange)> body) {
    b.setInsertionPointToEnd(module.getBody());
    Type number = b.i64();
    auto result = b.create<func::FuncOp>(
        ("kept." + Twine(keptProducts.size()) + ".").str(),
        b.getFunctionType(
            {b.pointer(), b.pointer(), number, number, number, number}, {}));
    b.setInsertionPointToEnd(result.addEntryBlock());
    ValueRange arguments = result.getArguments();
    memory = tileMemory(b, module, real, smallTile);
    Tile tile = tileOf(b, arguments[0], smallTile);
    tile.terms = b.number(terms);
    tile.kept = arguments[1];
    tile.keptTerms = arguments[2];
    tile.column = arguments[3];
    body(tile, arguments.drop_front(4));
    b.create<func::ReturnOp>();
    return result;
  };
  auto keep = function([&](Tile tile, ValueRange) { keepColumns(b, tile); });
  auto multiply = function([&](Tile tile, ValueRange turns) {
    Value tiles = b.divUp(tile.rows, b.number(smallTile.rows));
    b.loop(turns[0], tiles, turns[1], [&](Value at) {
      tile.row = b.mul(at, b.number(smallTile.rows));
      emitTile(b, tile);
    });
  });
  keptProducts[lastKernel] = {*keptColumnsOf(op), keep, multiply};
}

void GpuEmitter::emitBatchedProduct(ComputeOp op, ExampleProduct product) {
  int64_t places = placesOf(op, product);
  TileShape shape = shapeOf(op, real, "");
  int tilesSlot = slotOf(0);
  Value units = main.mul(count(), main.mul(scalar(0), main.number(places)));

  auto multiply = [&](KernelBuilder &b, const Place &place,
                      ArrayRef<Index> indices, Value row) {
    BodyEmitter values(b, storage, place, 0);
    auto of = [&](Value array, ArrayRef<AccessIndex> axes) {
      return values.view(storage.of(array), axes, indices);
    };
    BodyEmitter::View left = of(product.left.getArray(), product.leftAxes);
    BodyEmitter::View right = of(product.right.getArray(), product.rightAxes);
    BodyEmitter::View result = of(op.getResult(), product.resultAxes);
    auto extent = [&](unsigned index) {
      return values.extent(op.getExtents()[index]);
    };
    auto bound = [&](std::optional<int64_t> number) {
      return number ? b.number(*number) : Value();
    };
    Tile tile;
    tile.memory = memory;
    tile.shape = shape;
    tile.element = real;
    tile.a = {.base = left.base,
              .along = left.along[product.m],
              .deep = left.along[product.k]};
    tile.b = {.base = right.base,
              .along = right.along[product.n],
              .deep = right.along[product.k]};
    tile.c = result.base;
    tile.cRow = result.along[product.m];
    tile.rows = extent(product.m);
    tile.columns = extent(product.n);
    tile.terms = extent(product.k);
    tile.row = row;
    auto opposite = [](std::optional<int64_t> number) {
      return number ? std::optional(-*number) : number;
    };
    tile.termsBefore = bound(opposite(product.terms.from));
    tile.termsAfter = bound(product.terms.to);
    tile.columnsBefore = bound(opposite(product.columns.from));
    tile.columnsAfter = bound(product.columns.to);
    b.branch(b.less(row, tile.rows), [&] {
      b.loop(b.number(0), tile.columns, b.number(shape.columns),
             [&](Value column) {
               tile.column = column;
               emitTile(b, tile);
             });
    });
  };
  launchTiles(op, units, shape, [&](KernelBuilder &b, Value frame, Value unit) {
    Value tiles = b.slot(frame, tilesSlot), each = b.number(places);
    Value row = b.mul(b.rem(unit, tiles), b.number(shape.rows));
    Value rest = b.div(unit, tiles);
    forRow(b, op, frame, b.div(rest, each), [&](const Place &place) {
      forProducts(
          b, op, product, place, b.rem(rest, each),
          [&](ArrayRef<Index> indices) { multiply(b, place, indices, row); });
    });
  });
}
