//===- EmitScan.cpp - recurrences over the rows that still run ------------===//
//
// The outermost loop over a length numbers its rows by rank: the examples by
// decreasing length, so that the ones with a step t come first. A nested loop
// keeps its rows and skips the ended ones.
//
//===----------------------------------------------------------------------===//

#include "codegen/program/LaunchEmitter.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

/// carry := init, for every example.
void LaunchEmitter::emitStart(ScanOp op) {
  const Loop &loop = storage.loopOf(op);
  SmallVector<unsigned> carries = startedCarries(op, storage);
  auto copyCarries = [&](KernelBuilder &kernel, const Place &to,
                         const Place &from) {
    for (unsigned i : carries)
      copyAll(kernel, to, storage.of(op.getCarry(i)), from,
              storage.of(op.getInits()[i]));
  };
  if (batchOf(op) != BatchKind::each) {
    launch(op, "start", main.number(1),
           [&](KernelBuilder &kernel, Value frame, Value, Value) {
             Place place = placeOf(kernel, op, frame);
             copyCarries(kernel, place, place);
           });
    return;
  }
  launchRows(op, "start", [&](KernelBuilder &kernel, const Place &place) {
    Place to = place;
    if (loop.order >= 0) {
      // Rows are ranks from here on.
      const Program::Order &order = storage.description().orders[loop.order];
      to.rank = place.example;
      to.example = kernel.entry(place.frame, order.orderSlot, place.example);
    }
    Place from = place;
    from.example = to.example;
    if (loop.order >= 0)
      from.rank = to.example;
    copyCarries(kernel, to, from);
  });
}

/// The next values of the carries and the rows of this step, unless they are
/// written in place.
void LaunchEmitter::emitCommit(ScanOp op) {
  Operation *yield = op.getBody().front().getTerminator();
  SmallVector<unsigned> stacked = committedRows(op, storage),
                        carries = committedCarries(op, storage);
  auto commit = [&](KernelBuilder &kernel, const Place &place) {
    for (unsigned i : stacked)
      copyRow(kernel, place, storage.of(op.getStacked(i)), op.getAxes()[i],
              place.steps.lookup(op.getLoopIndex()),
              storage.of(op.getStackedValue(i)));
    kernel.wait();
    for (unsigned i : carries)
      if (const Storage *swapped = storage.swapOf(op, i))
        copyAll(kernel, place, *swapped, place, storage.of(op.getNext(i)));
    kernel.wait();
    for (unsigned i : carries) {
      const Storage *swapped = storage.swapOf(op, i);
      copyAll(kernel, place, storage.of(op.getCarry(i)), place,
              swapped ? *swapped : storage.of(op.getNext(i)));
    }
  };
  if (batchOf(op) == BatchKind::each) {
    launchRows(yield, "commit", commit);
    return;
  }
  launch(yield, "commit", main.number(1),
         [&](KernelBuilder &kernel, Value frame, Value, Value) {
           commit(kernel, placeOf(kernel, yield, frame));
         });
}

/// The last values of the carries, by example again.
void LaunchEmitter::emitEnd(ScanOp op) {
  const Loop &loop = storage.loopOf(op);
  auto copyCarries = [&](KernelBuilder &kernel, const Place &to, Place from) {
    // If a carry is the previous step's row, that is now the last row.
    BodyEmitter values(kernel, storage, from, 0);
    from.steps[op.getLoopIndex()] =
        op.getReverse()
            ? kernel.number(-1)
            : values.extent(op.getExtent(), [](StringRef) { return Value(); });
    for (unsigned i : endedCarries(op))
      copyAll(kernel, to, storage.of(op.getLast(i)), from,
              storage.of(op.getCarry(i)));
  };
  if (batchOf(op) != BatchKind::each) {
    launch(op, "end", main.number(1),
           [&](KernelBuilder &kernel, Value frame, Value, Value) {
             Place place = placeOf(kernel, op, frame);
             copyCarries(kernel, place, place);
           });
    return;
  }
  launchRows(op, "end", [&](KernelBuilder &kernel, const Place &place) {
    Place from = place, to = place;
    if (loop.order >= 0) {
      const Program::Order &order = storage.description().orders[loop.order];
      from.rank = place.example;
      from.example = kernel.entry(place.frame, order.orderSlot, place.example);
      to.example = to.rank = from.example;
    }
    copyCarries(kernel, to, from);
  });
}

scf::ForOp LaunchEmitter::emitLoop(launch::ForOp item) {
  auto op = cast<ScanOp>(ops[item.getNumber()]);
  const Loop &loop = storage.loopOf(op);
  main.setLoc(op.getLoc());
  Value steps;
  if (auto number = dyn_cast<IntegerAttr>(item.getExtent())) {
    steps = main.number(number.getInt());
  } else {
    const Program::Length &length =
        storage.length(cast<StringAttr>(item.getExtent()).getValue());
    steps = main.slot(frame, length.maximumSlot);
  }
  Value outerRows = numbers.lookup(item.getRows());
  auto forOp = main.create<scf::ForOp>(main.number(0), steps, main.number(1));
  OpBuilder::InsertionGuard guard(main);
  main.setInsertionPoint(forOp.getBody()->getTerminator());
  Value step = forOp.getInductionVar();
  if (item.getReversed())
    step = main.sub(main.sub(steps, main.number(1)), step);
  main.setSlot(frame, loop.stepSlot, step);
  Value rows = outerRows;
  if (item.getByRank())
    rows =
        entryOfHost(storage.description().orders[loop.order].activeSlot, step);
  main.setSlot(frame, loop.rowsSlot, rows);
  emitItems(item.getBody().front());
  return forOp;
}
