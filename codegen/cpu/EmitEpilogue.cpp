//===- EmitEpilogue.cpp - equations behind products, column by column -----===//
//
// The work units are places of the equations, as many as are whole panels of
// every product, or tiles of rows where there are many rows.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ProgramEmitter.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

namespace {
/// What a thread has of a product: some rows of sums, and where the rows of
/// its left side lie.
struct RowsOfProduct {
  const Epilogue::Product *product;
  Contraction contraction;
  Value sums, list;
  int64_t stride;
};
/// The part of an epilogue that a thread computes.
struct Share {
  Value firstRow, lastRow, firstPlace, lastPlace;
};
} // namespace

static SmallVector<RowsOfProduct> roomsOf(KernelBuilder &b,
                                          const StorageMap &storage, Type real,
                                          Value frame,
                                          const Epilogue &epilogue) {
  StripMemory memory = storage.memoryOf(epilogue);
  Value thread =
      b.create<func::CallOp>(threadName, TypeRange(b.i64()), ValueRange())
          .getResult(0);
  Value at = b.at(real, b.pointerSlot(frame, memory.slot),
                  b.mul(thread, b.slot(frame, memory.partSlot)));
  SmallVector<RowsOfProduct> rooms;
  for (const Epilogue::Product &product : epilogue.products) {
    RowsOfProduct room = {&product, *contractionOf(product.op), at, nullptr,
                          product.stride(epilogue.width)};
    at = b.at(real, at, epilogueRows * room.stride);
    if (storage.hasRowList(room.contraction))
      room.list = at;
    at = b.at(real, at, epilogueRows * listEntry(real));
    rooms.push_back(room);
  }
  return rooms;
}

void ProgramEmitter::emitEpilogue(const Epilogue &epilogue) {
  SmallVector<Operation *> ops;
  for (const Epilogue::Product &product : epilogue.products)
    ops.push_back(product.op);
  ops.append(epilogue.members.begin(), epilogue.members.end());
  Operation *op = ops.front();
  main.setLoc(op->getLoc());

  int64_t atOnce = epilogue.placesAtOnce(tile);
  int rowsSlot = storage.description().numSlots++;
  Value rows = rowsAround(op);
  main.setSlot(frame, rowsSlot, rows);
  auto isTall = [](KernelBuilder &b, Value rows) {
    return b.atMost(b.number(2 * epilogueRows), rows);
  };
  Value tall = isTall(main, rows);
  Value units =
      main.select(tall, main.divUp(rows, main.number(tile.rows)),
                  main.number(llvm::divideCeil(epilogue.width, atOnce)));
  auto body = [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
    Value rows = kernel.slot(frame, rowsSlot), tall = isTall(kernel, rows);
    Value zero = kernel.number(0), width = kernel.number(epilogue.width);
    Value ofTile = kernel.number(tile.rows), ofPlaces = kernel.number(atOnce);
    Share share = {
        kernel.select(tall, kernel.mul(first, ofTile), zero),
        kernel.select(tall, kernel.min(rows, kernel.mul(last, ofTile)), rows),
        kernel.select(tall, zero, kernel.mul(first, ofPlaces)),
        kernel.select(tall, width,
                      kernel.min(width, kernel.mul(last, ofPlaces)))};
    SmallVector<RowsOfProduct> rooms =
        roomsOf(kernel, storage, real, frame, epilogue);

    // Blocks of whole tiles and of about the same height.
    Value one = kernel.number(1);
    Value all = kernel.max(kernel.sub(share.lastRow, share.firstRow), one);
    Value height =
        kernel.divUp(all, kernel.divUp(all, kernel.number(epilogueRows)));
    height = kernel.mul(kernel.divUp(height, ofTile), ofTile);
    kernel.loop(share.firstRow, share.lastRow, height, [&](Value begin) {
      Value end = kernel.min(share.lastRow, kernel.add(begin, height));
      for (const RowsOfProduct &room : rooms) {
        ComputeOp product = room.product->op;
        kernel.setLoc(product.getLoc());
        if (room.list)
          kernel.loop(begin, end, one, [&](Value row) {
            Value entry =
                kernel.at(kernel.i64(), room.list, kernel.sub(row, begin));
            // An example that has ended has no row; the first one is there.
            kernel.store(zero, entry);
            forRow(kernel, op, frame, row, [&](const Place &place) {
              kernel.store(rowOfLeft(kernel, place, product, zero), entry);
            });
          });
        auto panelOf = [&](Value place) {
          Value columns = kernel.number(tile.columns());
          return kernel.divUp(
              kernel.mul(place, kernel.number(room.product->parts)), columns);
        };
        multiply(
            kernel, frame, product,
            {begin, end, panelOf(share.firstPlace), panelOf(share.lastPlace)},
            kernel.number(room.contraction.count), room.list, room.sums,
            kernel.number(room.stride));
      }
      kernel.loop(begin, end, one, [&](Value row) {
        forRow(kernel, op, frame, row, [&](Place place) {
          for (const RowsOfProduct &room : rooms) {
            Value sums = kernel.at(
                real, room.sums,
                kernel.mul(kernel.sub(row, begin), kernel.number(room.stride)));
            if (room.contraction.hasRowCondition)
              kernel.branch(isExcluded(kernel, place, room.product->op), [&] {
                kernel.clear(real, sums, kernel.number(room.contraction.width));
              });
            place.strips.push_back({sums, nullptr, nullptr});
          }
          for (ComputeOp member : epilogue.members) {
            kernel.setLoc(member.getLoc());
            ComputeEmitter(kernel, storage, member, lanes)
                .emitRange(place, share.firstPlace, share.lastPlace);
          }
        });
      });
    });
  };
  launch(
      op, joinedLabels(ops), units, body,
      main.select(tall, main.number(epilogueRows / tile.rows), main.number(1)));
  noteOthers(ops);
}
