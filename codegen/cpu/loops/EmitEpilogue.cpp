//===- EmitEpilogue.cpp - equations after products, column by column ------===//
//
// The work units are those of a product (EmitProduct.cpp). Its columns are
// grouped by places of the equations, so that they fill whole panels of every
// product.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"
#include "passes/memory/Locations.h"

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
};

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
  auto multiplyRows = [&](const RowsOfProduct &room, Value begin, Value end) {
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
    auto panelOf = [&](Value place) {
      Value parts = kernel.number(room.product->parts);
      return kernel.divUp(kernel.mul(place, parts),
                          kernel.number(tile.columns()));
    };
    multiply(kernel, frame, product,
             {begin, end, panelOf(piece.first), panelOf(piece.last)},
             kernel.number(room.rows.count), room.list, room.sums,
             kernel.number(room.stride));
  };
  auto computeRow = [&](Value number, Place place) {
    for (const RowsOfProduct &room : rooms) {
      Value sums = kernel.at(real, room.sums,
                             kernel.mul(number, kernel.number(room.stride)));
      if (room.rows.hasRowCondition)
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
    for (const RowsOfProduct &room : rooms)
      multiplyRows(room, begin, end);
    kernel.loop(begin, end, one, [&](Value row) {
      forRow(kernel, op, frame, row, [&](const Place &place) {
        computeRow(kernel.sub(row, begin), place);
      });
    });
  });
}
