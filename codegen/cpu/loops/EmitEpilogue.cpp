//===- EmitEpilogue.cpp - equations after products, column by column ------===//
//
// The work units are those of a product (EmitProduct.cpp). Its columns are
// grouped by places of the equations, so that they fill whole panels of every
// product.
//
// If a condition that reads arrays chooses the rows of a product, only these
// are multiplied, as if they were consecutive: two of 32 experts read the
// weights of two. An excluded row reads one row of zeros after them.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"
#include "passes/memory/Locations.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

/// A thread's workspace for a product: some rows of sums, and the addresses of
/// its left side's rows.
struct fovea::codegen::RowsOfProduct {
  const Epilogue::Product *product;
  RowsProduct rows;
  Value sums, list;
  int64_t stride;
  /// The first product whose condition chooses the same rows; none: all rows.
  std::optional<unsigned> choice = {};
  /// Of that product: how many rows are chosen, and how many have been read.
  Value chosen = nullptr, read = nullptr;
};

/// Returns whether two products have the same rows of the same left side.
static bool chooseAlike(const RowsOfProduct &a, const RowsOfProduct &b) {
  ComputeOp first = a.product->op, second = b.product->op;
  return a.rows.places.empty() && b.rows.places.empty() &&
         ReadOp(a.rows.left).getArray() == ReadOp(b.rows.left).getArray() &&
         first.getNumIndices() == second.getNumIndices() &&
         OperationEquivalence::isRegionEquivalentTo(
             &first.getCondition(), &second.getCondition(),
             OperationEquivalence::IgnoreLocations);
}

/// Finds the products whose rows a condition chooses, from at most `tallest` at
/// once.
static void findChoices(KernelBuilder &b, int64_t tallest,
                        MutableArrayRef<RowsOfProduct> products) {
  Value list;
  for (auto [number, product] : llvm::enumerate(products)) {
    if (!product.rows.hasRowCondition || !conditionReads(product.product->op))
      continue;
    if (!list)
      list = b.scratch(b.i64(), tallest);
    product.list = list;
    for (unsigned other = 0; other < number && !product.choice; ++other)
      if (products[other].choice == other &&
          chooseAlike(products[other], product))
        product.choice = other;
    if (product.choice)
      continue;
    product.choice = number;
    product.chosen = b.scratch(b.i64(), 1);
    product.read = b.scratch(b.i64(), 1);
  }
}

static SmallVector<RowsOfProduct, 2> roomsOf(KernelBuilder &b,
                                             const StorageMap &storage,
                                             Type real, Value frame,
                                             const Epilogue &epilogue) {
  SmallVector<RoomAttr> rooms = roomsOf(epilogue.kernel);
  SmallVector<Value> begins;
  Value at = threadMemory(b, real, frame, storage.memoryOf(epilogue.kernel));
  for (RoomAttr room : rooms) {
    begins.push_back(at);
    at = b.at(real, at, countIn(room, real));
  }
  SmallVector<RowsOfProduct, 2> result;
  for (const Epilogue::Product &product : epilogue.products) {
    ComputeOp op = product.op;
    unsigned sums = locationOf(op.getResult()).getNumber();
    ArrayLocationAttr list = listLocationOf(op);
    result.push_back({&product, *rowsProductOf(op), begins[sums],
                      list ? begins[list.getNumber()] : Value(),
                      rooms[sums].getFixedCount() / rooms[sums].getCount()});
  }
  findChoices(b, TargetAttr::of(epilogue.kernel).getColumnRows(), result);
  return result;
}

void ProgramEmitter::emitEpilogue(const Epilogue &epilogue) {
  SmallVector<Operation *> ops;
  for (const Epilogue::Product &product : epilogue.products)
    ops.push_back(product.op);
  ops.append(epilogue.members.begin(), epilogue.members.end());
  Operation *op = ops.front();
  main.setLoc(op->getLoc());

  int64_t atOnce = epilogue.placesAtOnce(tile);
  int64_t columns = llvm::divideCeil(epilogue.width, atOnce);
  int rowsSlot = slotOf(0);
  Tiles tiles = tilesOf(main, count(), columns);
  launch(
      op, joinedLabels(ops), tiles.count,
      [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
        SmallVector<RowsOfProduct, 2> rooms =
            roomsOf(kernel, storage, real, frame, epilogue);
        Value rows = kernel.slot(frame, rowsSlot);
        Value width = kernel.number(epilogue.width);
        forPieces(kernel, first, last, rows, columns, [&](Piece piece) {
          piece.first = kernel.mul(piece.first, kernel.number(atOnce));
          piece.last =
              kernel.min(width, kernel.mul(piece.last, kernel.number(atOnce)));
          emitPiece(kernel, frame, epilogue, rooms, piece);
        });
      },
      tiles.atOnce);
  noteOthers(ops);
}

/// The places first .. last-1 of the equations for some rows.
void ProgramEmitter::emitPiece(KernelBuilder &kernel, Value frame,
                               const Epilogue &epilogue,
                               ArrayRef<RowsOfProduct> rooms,
                               const Piece &piece) {
  Operation *op = epilogue.products.front().op;
  Value zero = kernel.number(0), one = kernel.number(1);
  auto multiplyRows = [&](const RowsOfProduct &room, Value list, Value begin,
                          Value end) {
    ComputeOp product = room.product->op;
    auto panelOf = [&](Value place) {
      Value parts = kernel.number(room.product->parts);
      return kernel.divUp(kernel.mul(place, parts),
                          kernel.number(tile.columns()));
    };
    multiply(kernel, frame, product,
             {begin, end, panelOf(piece.first), panelOf(piece.last)},
             kernel.number(room.rows.count), list, room.sums,
             kernel.number(room.stride));
  };
  auto multiplyAll = [&](const RowsOfProduct &room, Value begin, Value end) {
    ComputeOp product = room.product->op;
    kernel.setLoc(product.getLoc());
    if (room.list)
      kernel.loop(begin, end, one, [&](Value row) {
        Value entry =
            kernel.at(kernel.i64(), room.list, kernel.sub(row, begin));
        forRow(
            kernel, op, frame, row,
            [&](const Place &place) {
              kernel.store(rowOfLeft(kernel, place, product, zero), entry);
            },
            [&](const Place &) { // it has ended, and has no row
              kernel.store(readableRow(kernel, frame, product), entry);
            });
      });
    multiplyRows(room, room.list, begin, end);
  };
  auto sumsAt = [&](const RowsOfProduct &room, Value number) {
    return kernel.at(real, room.sums,
                     kernel.mul(number, kernel.number(room.stride)));
  };
  // The columns that the equations read; of several parts, all.
  auto clearPiece = [&](const RowsOfProduct &room, Value number) {
    bool isOne = room.product->parts == 1;
    Value first = isOne ? piece.first : zero,
          last = isOne ? piece.last : kernel.number(room.rows.width);
    kernel.clear(real, kernel.at(real, sumsAt(room, number), first),
                 kernel.sub(last, first));
  };
  auto multiplyChosen = [&](unsigned choice, Value begin, Value end) {
    const RowsOfProduct &first = rooms[choice];
    ComputeOp product = first.product->op;
    kernel.setLoc(product.getLoc());
    kernel.store(zero, first.chosen);
    kernel.store(zero, first.read);
    kernel.loop(begin, end, one, [&](Value row) {
      forRow(kernel, op, frame, row, [&](const Place &place) {
        Value isOut = isExcluded(kernel, place, product);
        kernel.branch(
            isOut, [] {},
            [&] {
              Value number = kernel.load(kernel.i64(), first.chosen);
              kernel.store(rowOfLeft(kernel, place, product, zero),
                           kernel.at(kernel.i64(), first.list, number));
              kernel.store(kernel.add(number, one), first.chosen);
            });
      });
    });
    Value count = kernel.load(kernel.i64(), first.chosen);
    kernel.branch(kernel.less(zero, count), [&] {
      for (const RowsOfProduct &room : rooms)
        if (room.choice == choice)
          multiplyRows(room, first.list, zero, count);
    });
    kernel.branch(kernel.less(count, kernel.sub(end, begin)), [&] {
      for (const RowsOfProduct &room : rooms)
        if (room.choice == choice)
          clearPiece(room, count);
    });
  };
  // The number of the row of a chosen product, and one more row is read.
  auto nextOf = [&](const RowsOfProduct &room, const Place &place) {
    Value next = kernel.load(kernel.i64(), room.read),
          count = kernel.load(kernel.i64(), room.chosen);
    Value isOut = isExcluded(kernel, place, room.product->op);
    kernel.store(kernel.select(isOut, next, kernel.add(next, one)), room.read);
    return kernel.select(isOut, count, next);
  };
  auto computeRow = [&](Value number, Place place) {
    SmallVector<Value> numbers;
    for (auto [index, room] : llvm::enumerate(rooms)) {
      Value own = number;
      if (room.choice)
        own =
            room.choice == index ? nextOf(room, place) : numbers[*room.choice];
      numbers.push_back(own);
      Value sums = sumsAt(room, own);
      if (room.rows.hasRowCondition && !room.choice)
        kernel.branch(isExcluded(kernel, place, room.product->op), [&] {
          kernel.clear(real, sums, kernel.number(room.rows.width));
        });
      place.strips.push_back({sums, nullptr, nullptr});
    }
    for (ComputeOp member : epilogue.members) {
      kernel.setLoc(member.getLoc());
      ComputeEmitter(kernel, storage, member, lanes)
          .emitRange(place, piece.first, piece.last);
    }
  };
  // Blocks of whole tiles and of about equal height.
  int64_t tallest = TargetAttr::of(epilogue.kernel).getColumnRows();
  Value ofTile = kernel.number(tile.rows);
  Value all = kernel.max(kernel.sub(piece.lastRow, piece.firstRow), one);
  Value height = kernel.divUp(all, kernel.divUp(all, kernel.number(tallest)));
  height = kernel.mul(kernel.divUp(height, ofTile), ofTile);
  kernel.loop(piece.firstRow, piece.lastRow, height, [&](Value begin) {
    Value end = kernel.min(piece.lastRow, kernel.add(begin, height));
    for (auto [number, room] : llvm::enumerate(rooms))
      if (!room.choice)
        multiplyAll(room, begin, end);
      else if (room.choice == number)
        multiplyChosen(number, begin, end);
    kernel.loop(begin, end, one, [&](Value row) {
      forRow(kernel, op, frame, row, [&](const Place &place) {
        computeRow(kernel.sub(row, begin), place);
      });
    });
  });
}
