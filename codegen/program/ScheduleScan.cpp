//===- ScheduleScan.cpp - the launches of a recurrence --------------------===//

#include "codegen/program/Scheduler.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

SmallVector<unsigned>
fovea::codegen::startedCarries(ScanOp op, const StorageMap &storage) {
  Block &body = op.getBody().front();
  SmallVector<unsigned> carries;
  for (unsigned i = 0; i < op.getNumCarries(); ++i)
    if (!storage.of(body.getArgument(1 + i)).init)
      carries.push_back(i);
  return carries;
}

SmallVector<unsigned>
fovea::codegen::committedCarries(ScanOp op, const StorageMap &storage) {
  SmallVector<unsigned> carries;
  for (unsigned i = 0; i < op.getNumCarries(); ++i)
    if (!storage.of(op.getCarry(i)).init && op.getNext(i) != op.getCarry(i) &&
        storage.of(op.getNext(i)).slot != storage.of(op.getCarry(i)).slot)
      carries.push_back(i);
  return carries;
}

SmallVector<unsigned> fovea::codegen::endedCarries(ScanOp op) {
  SmallVector<unsigned> carries;
  for (unsigned i = 0; i < op.getNumCarries(); ++i)
    if (!op.getLast(i).use_empty())
      carries.push_back(i);
  return carries;
}

SmallVector<unsigned> fovea::codegen::committedRows(ScanOp op,
                                                    const StorageMap &storage) {
  SmallVector<unsigned> stacked;
  for (unsigned i = 0; i < op.getNumStacked(); ++i)
    if (storage.of(op.getStackedValue(i)).rowOf != op.getStacked(i))
      stacked.push_back(i);
  return stacked;
}

/// A run for each row around a loop, or for what the batch has once.
Scheduler::Run Scheduler::forExamples(Work work, Operation *op) {
  Run run{.work = work, .op = op};
  auto scan =
      isa<ScanOp>(op) ? cast<ScanOp>(op) : cast<ScanOp>(op->getParentOp());
  if (batchOf(scan) == BatchKind::each) {
    run.units = Units::examples;
    run.count = rowsAround(op);
  }
  return run;
}

void Scheduler::addStart(ScanOp op) {
  Uses uses;
  for (unsigned i : startedCarries(op, storage)) {
    read(op.getInits()[i], uses);
    uses.writes.insert(storage.of(op.getCarry(i)).slot);
  }
  if (!uses.writes.empty())
    add(forExamples(Work::start, op), uses);
}

void Scheduler::addCommit(ScanOp op) {
  Uses uses;
  for (unsigned i : committedRows(op, storage)) {
    read(op.getStackedValue(i), uses);
    uses.updates.insert(storage.of(op.getStacked(i)).slot);
  }
  for (unsigned i : committedCarries(op, storage)) {
    read(op.getNext(i), uses);
    uses.updates.insert(storage.of(op.getCarry(i)).slot);
    if (const Storage *swapped = storage.swapOf(op, i))
      uses.scratch.insert(swapped->slot);
  }
  if (!uses.updates.empty())
    add(forExamples(Work::commit, op.getBody().front().getTerminator()), uses);
}

void Scheduler::addEnd(ScanOp op) {
  Uses uses;
  for (unsigned i : endedCarries(op)) {
    read(op.getCarry(i), uses);
    uses.writes.insert(storage.of(op.getLast(i)).slot);
  }
  if (!uses.writes.empty())
    add(forExamples(Work::end, op), uses);
}

LogicalResult Scheduler::addScan(ScanOp op) {
  addStart(op);
  Value rows = rowsAround(op);
  Values carries;
  for (unsigned i = 0; i < op.getNumCarries(); ++i)
    if (const Storage &carry = storage.of(op.getCarry(i)); carry.init)
      carries.push_back(memoryAt(carry.slot));
  OpBuilder::InsertionGuard guard(b);
  b.setLoc(op.getLoc());
  int64_t number = numbers.at(op);
  Operation *item = nullptr;
  if (isPersistent(op)) {
    item = b.create<launch::PersistentOp>(number);
    b.setInsertionPointToStart(&item->getRegion(0).emplaceBlock());
  }
  auto loop =
      b.create<launch::ForOp>(op.getExtent(), number, rows, op.getReverse(),
                              storage.loopOf(op).order >= 0, carries);
  item = item ? item : loop;
  Block &body = loop.getBody().emplaceBlock();
  stepOf[op] = body.addArgument(b.i64(), op.getLoc());
  b.setInsertionPointToStart(&body);
  if (failed(addBlock(op.getBody().front())))
    return failure();
  addCommit(op);
  b.setInsertionPointAfter(item);
  addEnd(op);
  return success();
}
