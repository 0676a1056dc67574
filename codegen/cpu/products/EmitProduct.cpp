//===- EmitProduct.cpp - matrix products of a program ---------------------===//
//
// Calls the module's GEMM for equations that are products. Weights are packed
// once per run, before every loop. The work units are tiles of rows if there
// are many, otherwise panels of columns, for half of the rows.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"
#include "runtime/data/Quantise.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;
using runtime::Program;
using runtime::StorageFormat;

/// The minimum number of rows computed at once, in tiles of the GEMM. With
/// fewer than twice as many, units are columns.
static constexpr int64_t rowsAtOnce = 96;
/// From so many rows on, a unit of columns is split into two halves of the
/// rows: otherwise two threads would get 6 and 5 of 11 panels.
static constexpr int64_t leastHalved = 16;

/// A larger packed right side is written past the caches.
static constexpr int64_t mostNear = int64_t(1) << 17;

namespace {
/// Where the right side of a product begins in memory, and how far apart its
/// terms and columns are, in elements of this type.
struct RightSide {
  Type element;
  int64_t first, rowStride, columnStride;
};
} // namespace

static RightSide rightSideOf(const RowsProduct &product, const Storage &right,
                             const StorageFormat *format, Type real) {
  int64_t first = product.rightFirst, stride = product.columnStride;
  if (!format)
    return {real, first, product.rowStride, stride};
  if (format->kind != StorageFormat::Groups)
    return {IntegerType::get(real.getContext(), 8 * format->bytes), first,
            product.rowStride, stride};
  // Whole groups of terms; the terms of a column are adjacent.
  int64_t extent =
      cast<IntegerAttr>(right.type.getShape().getValue().back()).getInt();
  auto bytesTo = [&](int64_t place) {
    return runtime::groupOf(place, extent) * format->bytes;
  };
  return {IntegerType::get(real.getContext(), 8), bytesTo(first), 1,
          bytesTo(stride)};
}

void ProgramEmitter::emitPack(ComputeOp op, RowsProduct product) {
  const Storage &right = storage.of(product.right.getArray());
  int room = storage.packedOf(op)->slot, termsSlot = slotOf(0);
  Operation *top = op;
  while (!isa<ProgramOp>(top->getParentOp()))
    top = top->getParentOp();
  RightSide side = rightSideOf(product, right, storage.formatOf(right), real);
  launch(top, "pack", main.number(tile.panels(product.columns())),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           Value from =
               kernel.at(side.element, kernel.pointerSlot(frame, right.slot),
                         kernel.number(side.first));
           Value terms = kernel.slot(frame, termsSlot);
           SmallVector<Value> arguments = {from,
                                           kernel.number(side.rowStride),
                                           kernel.number(side.columnStride),
                                           terms,
                                           kernel.number(product.columns()),
                                           kernel.pointerSlot(frame, room),
                                           first,
                                           last};
           int64_t parts = storage.packedPartsOf(op);
           ProductFunctions functions = functionsOf(op, real);
           if (parts > 1 || functions.pack == functions.packParts) {
             arguments.push_back(kernel.number(std::max<int64_t>(parts, 1)));
             kernel.call(functions.packParts, arguments);
             return;
           }
           kernel.branch(
               kernel.less(terms, kernel.number(mostNear / product.columns())),
               [&] { kernel.call(functions.pack, arguments); },
               [&] { kernel.call(functions.packFar, arguments); });
         });
}

static Value isTall(KernelBuilder &b, Value rows) {
  return b.atMost(b.number(2 * rowsAtOnce), rows);
}

static Value partsOfRows(KernelBuilder &b, Value rows) {
  return b.select(b.less(rows, b.number(leastHalved)), b.number(1),
                  b.number(2));
}

ProgramEmitter::Tiles ProgramEmitter::tilesOf(KernelBuilder &b, Value rows,
                                              int64_t columns) {
  Value tall = isTall(b, rows);
  return {.count = b.select(tall, b.divUp(rows, b.number(tile.rows)),
                            b.mul(b.number(columns), partsOfRows(b, rows))),
          .atOnce =
              b.select(tall, b.number(rowsAtOnce / tile.rows), b.number(1))};
}

void ProgramEmitter::forPieces(KernelBuilder &b, Value first, Value last,
                               Value rows, int64_t columns,
                               llvm::function_ref<void(const Piece &)> body) {
  Value zero = b.number(0), one = b.number(1), two = b.number(2);
  Value tall = isTall(b, rows), parts = partsOfRows(b, rows);
  Value middle = b.divUp(rows, two);
  auto choose = [&](Value number, Value before, Value whole, Value after) {
    return b.select(b.equal(number, zero), before,
                    b.select(b.equal(number, one), whole, after));
  };
  // Before whole units comes the second half of the rows of one, after them the
  // first half of one; either may be empty.
  Value firstCut = b.div(first, parts), lastCut = b.div(last, parts);
  b.loop(zero, b.number(3), one, [&](Value number) {
    Value isWhole = b.equal(number, one);
    auto ofTiles = [&](Value yes, Value no) { return b.select(tall, yes, no); };
    Value ofTile = b.number(tile.rows);
    Piece piece = {
        .firstRow =
            ofTiles(b.mul(first, ofTile), choose(number, middle, zero, zero)),
        .lastRow = ofTiles(b.min(rows, b.mul(last, ofTile)),
                           choose(number, rows, rows, middle)),
        .first = ofTiles(
            zero, choose(number, firstCut, b.divUp(first, parts), lastCut)),
        .last = ofTiles(b.select(isWhole, b.number(columns), zero),
                        choose(number, b.add(firstCut, b.rem(first, parts)),
                               lastCut, b.add(lastCut, b.rem(last, parts))))};
    b.branch(b.less(piece.first, piece.last), [&] { body(piece); });
  });
}

void ProgramEmitter::multiply(KernelBuilder &kernel, Value frame, ComputeOp op,
                              const Piece &piece, Value terms, Value list,
                              Value to, Value stride) {
  RowsProduct product = *rowsProductOf(op);
  const Storage &left = storage.of(product.left.getArray());
  bool isRows = product.isByRows();
  Value leftRow = kernel.number(isRows ? product.leftWidth : 1);
  Value leftTerm = kernel.number(isRows ? 1 : product.leftWidth);
  Value from =
      kernel.at(real, kernel.pointerSlot(frame, left.slot), product.leftFirst);
  SmallVector<Value> arguments;
  ProductFunctions functions = functionsOf(op, real);
  std::string name = functions.multiply;
  if (product.gathered) {
    arguments = {from, list, kernel.number(product.runs),
                 kernel.number(product.runLength)};
    name = gemmRunsName(elementOf(op, real));
  } else if (list) {
    arguments = {from, list};
    name = functions.multiplyRows;
  } else {
    arguments = {kernel.at(real, from, kernel.mul(piece.firstRow, leftRow)),
                 leftRow, leftTerm};
  }
  arguments.append({kernel.pointerSlot(frame, storage.packedOf(op)->slot), to,
                    stride, kernel.sub(piece.lastRow, piece.firstRow),
                    kernel.number(product.columns()), terms, piece.first,
                    piece.last, kernel.truth(false)});
  kernel.call(name, arguments);
}

void ProgramEmitter::emitProduct(ComputeOp op, RowsProduct product) {
  if (!product.packsAhead())
    return emitGathered(op, product);
  if (choosesRows(op, product))
    return emitChosenRows(op, product);
  const Storage &result = storage.of(op.getResult());
  ProductSize size = sizeOf(op);
  int64_t panels = tile.panels(product.columns());
  Tiles tiles = tilesOf(main, size.rows, panels);
  std::string name = op.getLabel().value_or("").str() + ".gemm";
  launch(
      op, name, tiles.count,
      [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
        Value rows = kernel.slot(frame, size.rowsSlot);
        Value width = kernel.number(product.width);
        forPieces(kernel, first, last, rows, panels, [&](const Piece &piece) {
          Value to = kernel.at(real, kernel.pointerSlot(frame, result.slot),
                               kernel.add(kernel.mul(piece.firstRow, width),
                                          kernel.number(product.first)));
          Value list;
          if (size.rowList)
            list = kernel.at(
                kernel.i64(), kernel.pointerSlot(frame, size.rowList->slot),
                kernel.mul(piece.firstRow,
                           kernel.number(product.gathered ? product.runs : 1)));
          multiply(kernel, frame, op, piece, kernel.slot(frame, size.termsSlot),
                   list, to, width);
        });
      },
      tiles.atOnce);
}
