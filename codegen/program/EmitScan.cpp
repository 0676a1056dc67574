//===- EmitScan.cpp - recurrences over the rows that still run ------------===//
//
// The outermost loop over a length numbers its rows by rank: the examples by
// decreasing length, so that those with a step t come first. A nested loop
// keeps its rows and skips those that have ended.
//
//===----------------------------------------------------------------------===//

#include "codegen/program/LaunchEmitter.h"
#include "passes/batch/Batch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

/// carry := init, for every example.
void LaunchEmitter::emitStart(ScanOp op) {
  Block &body = op.getBody().front();
  const Loop &loop = storage.loopOf(op);
  auto isCopied = [&](unsigned i) {
    return !storage.of(body.getArgument(1 + i)).init;
  };
  auto copyCarries = [&](KernelBuilder &kernel, const Place &to,
                         const Place &from) {
    for (unsigned i = 0; i < op.getNumCarries(); ++i)
      if (isCopied(i))
        copyAll(kernel, to, storage.of(body.getArgument(1 + i)), from,
                storage.of(op.getInits()[i]));
  };
  if (llvm::none_of(llvm::seq(op.getNumCarries()), isCopied))
    return;
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
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  SmallVector<unsigned> stacked, carries;
  for (unsigned i = 0; i < op.getNumStacked(); ++i)
    if (storage.of(op.getStackedValue(i)).rowOf != op.getStacked(i))
      stacked.push_back(i);
  for (unsigned i = 0; i < op.getNumCarries(); ++i)
    if (!storage.of(op.getCarry(i)).init && op.getNext(i) != op.getCarry(i) &&
        storage.of(op.getNext(i)).slot != storage.of(op.getCarry(i)).slot)
      carries.push_back(i);
  if (stacked.empty() && carries.empty())
    return;
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
    for (unsigned i = 0; i < op.getNumCarries(); ++i)
      if (!op.getLast(i).use_empty())
        copyAll(kernel, to, storage.of(op.getLast(i)), from,
                storage.of(op.getCarry(i)));
  };
  bool isUsed = false;
  for (unsigned i = 0; i < op.getNumCarries(); ++i)
    isUsed |= !op.getLast(i).use_empty();
  if (!isUsed)
    return;
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

LogicalResult LaunchEmitter::emitScan(ScanOp op) {
  const Loop &loop = storage.loopOf(op);
  emitStart(op);
  Value steps;
  if (auto number = dyn_cast<IntegerAttr>(op.getExtent())) {
    steps = main.number(number.getInt());
  } else {
    const Program::Length &length =
        storage.length(cast<StringAttr>(op.getExtent()).getValue());
    steps = main.slot(frame, length.maximumSlot);
  }
  Value outerRows = rowsAround(op);
  auto forOp = main.create<scf::ForOp>(main.number(0), steps, main.number(1));
  LogicalResult result = success();
  {
    OpBuilder::InsertionGuard guard(main);
    main.setInsertionPoint(forOp.getBody()->getTerminator());
    Value step = forOp.getInductionVar();
    if (op.getReverse())
      step = main.sub(main.sub(steps, main.number(1)), step);
    main.setSlot(frame, loop.stepSlot, step);
    Value rows = outerRows;
    if (loop.order >= 0)
      rows = main.entry(
          frame, storage.description().orders[loop.order].activeSlot, step);
    main.setSlot(frame, loop.rowsSlot, rows);
    result = emitBlock(op.getBody().front());
    main.setLoc(op.getLoc());
    emitCommit(op);
  }
  if (failed(result))
    return failure();
  noteLoop(op, forOp);
  emitEnd(op);
  return success();
}
