//===- EmitProduct.cpp - matrix products of a program ---------------------===//
//
// Calls the GEMM of the module for the equations that are products. Weights
// are packed once per run, ahead of every loop; the work units are tiles of
// rows where there are many, otherwise panels of columns, for half of the rows.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"
#include "passes/batch/Batch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;
using runtime::Program;

/// So many rows are computed at once at least, in tiles of the GEMM. With fewer
/// than twice as many, units are columns.
static constexpr int64_t rowsAtOnce = 96;
/// From so many rows on, a unit of columns is cut into two halves of the rows:
/// 11 panels are otherwise 6 and 5 for two threads.
static constexpr int64_t leastHalved = 16;

/// A packed right side of more elements is written past the caches.
static constexpr int64_t mostNear = int64_t(1) << 17;

/// How many terms each sum of a product has.
Value ProgramEmitter::termsOf(RowsProduct product) {
  if (product.isByRows())
    return main.number(product.count);
  // Both sides have these rows, unless the right one is gathered.
  bool isGathered = product.gathered == product.right;
  const Storage &rows =
      storage.of((isGathered ? product.left : product.right).getArray());
  int64_t numbers = numbersIn(rows.type) /
                    (isGathered ? product.leftWidth : product.rowStride);
  Value places = main.slot(frame, Program::batchSlot);
  if (rows.layout != 0)
    places = main.entry(frame, storage.slotOfLayout(rows.layout), places);
  return main.mul(places, main.number(numbers));
}

void ProgramEmitter::emitPacking(Operation &op, bool ofParameters) {
  op.walk([&](ComputeOp compute) {
    const Storage *room = storage.packedOf(compute);
    if (!room || (ofParameters && !storage.isKept(*room)) ||
        !packedSlots.insert(room->slot).second)
      return;
    main.setLoc(compute.getLoc());
    emitPack(compute, *rowsProductOf(compute));
  });
}

void ProgramEmitter::emitPack(ComputeOp op, RowsProduct product) {
  const Storage &right = storage.of(product.right.getArray());
  int room = storage.packedOf(op)->slot;
  Value terms = termsOf(product);
  // The number of terms travels in the frame, as an argument of the kernel.
  int termsSlot = storage.description().numSlots++;
  main.setSlot(frame, termsSlot, terms);
  Operation *top = op;
  while (!isa<ProgramOp>(top->getParentOp()))
    top = top->getParentOp();
  launch(top, "pack", main.number(tile.panels(product.columns())),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           Value from = kernel.at(real, kernel.pointerSlot(frame, right.slot),
                                  kernel.number(product.rightFirst));
           Value terms = kernel.slot(frame, termsSlot);
           SmallVector<Value> arguments = {from,
                                           kernel.number(product.rowStride),
                                           kernel.number(product.columnStride),
                                           terms,
                                           kernel.number(product.columns()),
                                           kernel.pointerSlot(frame, room),
                                           first,
                                           last};
           if (int64_t parts = storage.packedPartsOf(op); parts > 1) {
             arguments.push_back(kernel.number(parts));
             kernel.call(packPartsName(real), arguments);
             return;
           }
           kernel.branch(
               kernel.less(terms, kernel.number(mostNear / product.columns())),
               [&] { kernel.call(packName(real), arguments); },
               [&] { kernel.call(packFarName(real), arguments); });
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
  auto choose = [&](Value number, Value ahead, Value whole, Value behind) {
    return b.select(b.equal(number, zero), ahead,
                    b.select(b.equal(number, one), whole, behind));
  };
  // Ahead of whole units the second half of the rows of one, and behind them
  // the first half of one; either may be empty.
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
  if (list)
    arguments = {from, list, kernel.number(product.gathered ? product.runs : 1),
                 product.gathered ? kernel.number(product.runLength) : terms};
  else
    arguments = {kernel.at(real, from, kernel.mul(piece.firstRow, leftRow)),
                 leftRow, leftTerm};
  arguments.append({kernel.pointerSlot(frame, storage.packedOf(op)->slot), to,
                    stride, kernel.sub(piece.lastRow, piece.firstRow),
                    kernel.number(product.columns()), terms, piece.first,
                    piece.last, kernel.truth(false)});
  kernel.call(list ? gemmRunsName(real) : gemmName(real), arguments);
}

void ProgramEmitter::emitProduct(ComputeOp op, RowsProduct product) {
  if (product.gathered)
    emitRunList(op, product);
  if (product.gathered == product.right)
    return emitGathered(op, product);
  const Storage &result = storage.of(op.getResult());
  bool isRows = product.isByRows();
  Value rows, terms = termsOf(product);
  if (!isRows) {
    rows = main.number(product.count);
  } else if (result.layout == 0) {
    rows = main.mul(rowsAround(op),
                    main.number(numbersIn(result.type) / product.width));
  } else {
    Value places = main.entry(frame, storage.slotOfLayout(result.layout),
                              main.slot(frame, Program::batchSlot));
    rows =
        main.mul(places, main.number(numbersIn(result.type) / product.width));
  }
  emitZeros(op, rows, product);
  const Storage *rowList = storage.rowListOf(op);
  if (rowList && !product.gathered)
    emitRowList(op, *rowList);
  int termsSlot = storage.description().numSlots++;
  int rowsSlot = storage.description().numSlots++;
  main.setSlot(frame, termsSlot, terms);
  main.setSlot(frame, rowsSlot, rows);
  int64_t panels = tile.panels(product.columns());
  Tiles tiles = tilesOf(main, rows, panels);
  std::string name = op.getLabel().value_or("").str() + ".gemm";
  launch(
      op, name, tiles.count,
      [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
        Value rows = kernel.slot(frame, rowsSlot);
        Value width = kernel.number(product.width);
        forPieces(kernel, first, last, rows, panels, [&](const Piece &piece) {
          Value to = kernel.at(real, kernel.pointerSlot(frame, result.slot),
                               kernel.add(kernel.mul(piece.firstRow, width),
                                          kernel.number(product.first)));
          Value list;
          if (rowList)
            list = kernel.at(
                kernel.i64(), kernel.pointerSlot(frame, rowList->slot),
                kernel.mul(piece.firstRow,
                           kernel.number(product.gathered ? product.runs : 1)));
          multiply(kernel, frame, op, piece, kernel.slot(frame, termsSlot),
                   list, to, width);
        });
      },
      tiles.atOnce);
  if (product.hasRowCondition)
    emitRowCondition(op);
}

/// A row for examples of which the left side has none and which the condition
/// of the op sets to zero: the weights, since memory must be there.
static Value readableRow(KernelBuilder &kernel, Value frame, Type real,
                         const Storage &left, const Storage &packed,
                         int64_t leftFirst) {
  auto addressOf = [&](const Storage &array) {
    return kernel.create<LLVM::PtrToIntOp>(
        kernel.i64(), kernel.pointerSlot(frame, array.slot));
  };
  Value distance = kernel.sub(addressOf(packed), addressOf(left));
  Value bytes = kernel.number(real.getIntOrFloatBitWidth() / 8);
  return kernel.sub(kernel.create<arith::DivSIOp>(distance, bytes),
                    kernel.number(leftFirst));
}

/// Where a row of the left side of a product lies in the example at hand, in
/// elements of the array that it is a row of.
Value ProgramEmitter::rowOfLeft(KernelBuilder &kernel, const Place &place,
                                ComputeOp op, Value row) {
  RowsProduct product = *rowsProductOf(op);
  const Storage &left = storage.of(product.left.getArray());
  BodyEmitter values(kernel, storage, place, 0);
  Value start = values.start(left);
  Value ahead = kernel.number(0), inside;
  for (auto [axis, index] : llvm::enumerate(product.places)) {
    Value at = kernel.number(index.offset);
    if (index.kind == AccessIndex::Outer)
      at = kernel.add(place.steps.lookup(index.value), at);
    Value extent = values.extent(left.type.getExtent(axis));
    inside = kernel.both(inside, kernel.atMost(kernel.number(0), at));
    inside = kernel.both(inside, kernel.less(at, extent));
    ahead = kernel.add(kernel.mul(ahead, extent), at);
  }
  Value size = kernel.number(product.leftWidth);
  ArrayRef<Attribute> result = op.getResult().getType().getShape().getValue();
  for (Attribute extent : result.drop_back())
    size = kernel.mul(size, values.extent(extent));
  start = kernel.add(start, kernel.mul(ahead, size));
  Value at =
      kernel.add(start, kernel.mul(row, kernel.number(product.leftWidth)));
  if (!inside || !product.hasRowCondition)
    return at;
  return kernel.select(inside, at,
                       readableRow(kernel, place.frame, real, left,
                                   *storage.packedOf(op), product.leftFirst));
}

/// Where the rows of the left side lie, of every example that takes part. One
/// that has ended in an inner loop has none; the first of all is there.
void ProgramEmitter::emitRowList(ComputeOp op, const Storage &list) {
  auto fill = [&](KernelBuilder &kernel, const Place &place,
                  llvm::function_ref<Value(Value)> entry) {
    BodyEmitter values(kernel, storage, place, 0);
    Value out = values.base(list);
    Value count = kernel.number(1);
    for (Attribute extent : list.type.getShape())
      count = kernel.mul(count, values.extent(extent));
    kernel.loop(kernel.number(0), count, kernel.number(1), [&](Value row) {
      kernel.store(entry(row), kernel.at(kernel.i64(), out, row));
    });
  };
  launch(op, "rows", rowsAround(op),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           kernel.loop(first, last, kernel.number(1), [&](Value row) {
             forRow(
                 kernel, op, frame, row,
                 [&](const Place &place) {
                   fill(kernel, place, [&](Value row) {
                     return rowOfLeft(kernel, place, op, row);
                   });
                 },
                 [&](const Place &place) {
                   fill(kernel, place, [&](Value) { return kernel.number(0); });
                 });
           });
         });
}

/// The columns of the result that the product does not give.
void ProgramEmitter::emitZeros(ComputeOp op, Value rows, RowsProduct product) {
  if (product.columns() == product.width)
    return;
  const Storage &result = storage.of(op.getResult());
  launch(op, "zeros", rows,
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           Value base = kernel.pointerSlot(frame, result.slot);
           auto clear = [&](Value row, int64_t begin, int64_t end) {
             if (begin == end)
               return;
             Value at = kernel.at(
                 real, base,
                 kernel.add(kernel.mul(row, kernel.number(product.width)),
                            kernel.number(begin)));
             kernel.clear(real, at, kernel.number(end - begin));
           };
           kernel.loop(first, last, kernel.number(1), [&](Value row) {
             clear(row, 0, product.first);
             clear(row, product.last, product.width);
           });
         });
}

/// Whether the condition of a product says that the rows at hand are zero.
Value ProgramEmitter::isExcluded(KernelBuilder &kernel, const Place &place,
                                 ComputeOp op) {
  BodyEmitter values(kernel, storage, place, 0);
  Value zero = kernel.number(0);
  SmallVector<Index> indices(op.getNumIndices(), Index{zero});
  Value holds = values.emit(op.getCondition(), indices, nullptr, nullptr);
  return kernel.create<arith::XOrIOp>(holds, kernel.truth(true));
}

/// Zeros in the rows that the condition excludes.
void ProgramEmitter::emitRowCondition(ComputeOp op) {
  launchRows(op, "where", [&](KernelBuilder &kernel, const Place &place) {
    kernel.branch(isExcluded(kernel, place, op), [&] {
      BodyEmitter values(kernel, storage, place, 0);
      const Storage &result = storage.of(op.getResult());
      Value count = kernel.number(1);
      for (Attribute extent : result.type.getShape())
        count = kernel.mul(count, values.extent(extent));
      kernel.clear(real, values.base(result), count);
    });
  });
}
