//===- GpuScheduler.cpp - the launches that only a GPU needs --------------===//

#include "codegen/gpu/program/GpuScheduler.h"
#include "codegen/gpu/products/CopiedProduct.h"
#include "targets/nvidia/AttentionCopies.h"
#include "targets/nvidia/ChooseTiles.h"
#include "targets/nvidia/Groups.h"
#include "targets/nvidia/KeepLoops.h"
#include "targets/nvidia/Tiles.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

GpuScheduler::GpuScheduler(ProgramOp program, StorageMap &storage, Type real)
    : Scheduler(program, storage), real(real) {
  program.walk([&](ComputeOp op) {
    if (const Storage *copy = storage.storedCopyOf(op))
      copied.insert(copy->slot);
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void GpuScheduler::addTiles(ComputeOp op, const RowsProduct &product,
                            Values sizes, const Uses &uses) {
  if (storage.packedLeftOf(op)) {
    addCopies(op, product, sizes);
    return Scheduler::addTiles(op, product, sizes, uses);
  }
  if (tilesOf(op) == Tiles::any && !keptColumnsOf(op))
    return addChoice(op, product, sizes, uses);
  Scheduler::addTiles(op, product, sizes, uses);
}

/// Copies of its factors, and of the weights that are gathered ahead of it.
void GpuScheduler::addCopies(ComputeOp op, const RowsProduct &product,
                             const Values &sizes) {
  Uses gathered, own;
  for (const GatheredCopy &each : gatheredAhead(op)) {
    int slot = storage.packedOf(each.reader)->slot;
    copied.insert(slot);
    gathered.writes.insert(slot);
    read(each.side.array, gathered);
  }
  std::string label = op.getLabel().value_or("").str();
  if (!gathered.writes.empty())
    add({.work = Work::gather, .op = op, .label = label, .units = Units::tiles},
        gathered);
  for (auto [side, copy] :
       {std::pair(copiedLeft(op, product), storage.packedLeftOf(op)),
        std::pair(copiedRight(product), storage.packedOf(op))}) {
    if (!copied.insert(copy->slot).second)
      continue;
    own.writes.insert(copy->slot);
    read(side.array, own);
    if (side.isListed)
      own.reads.insert(storage.rowListOf(op)->slot);
  }
  if (!own.writes.empty())
    add({.work = Work::copy,
         .op = op,
         .label = label,
         .units = Units::tiles,
         .scalars = sizes},
        own);
}

/// The batch decides how many tiles there are, and so which ones are better.
void GpuScheduler::addChoice(ComputeOp op, const RowsProduct &product,
                             const Values &sizes, const Uses &uses) {
  auto addIn = [&](StringRef tile) {
    add({.work = Work::compute,
         .op = op,
         .label = op.getLabel().value_or("").str(),
         .units = Units::tiles,
         .count = sizes.front(),
         .scalars = sizes,
         .tile = tile},
        uses);
  };
  auto isFew = [&](const TileShape &shape, int64_t least) {
    Value down = b.divUp(sizes.front(), b.number(shape.rows));
    int64_t across = llvm::divideCeil(product.columns(), shape.columns);
    return b.less(b.mul(down, b.number(across)), b.number(least));
  };
  auto addMedium = [&] {
    b.branch(
        isFew(TileShape(), leastTiles), [&] { addIn("small"); },
        [&] { addIn("medium"); });
  };
  // Sums of 64 bits would take all registers of a thread.
  if (real.isF32() && product.columns() >= largeSide)
    b.branch(isFew(largeTile, leastLargeTiles), addMedium,
             [&] { addIn("large"); });
  else
    addMedium();
}

Scheduler::Values GpuScheduler::scalarsOf(ComputeOp op,
                                          const ExampleProduct &product) {
  // Vertically adjacent tiles are apart.
  return {b.divUp(longest(op.getExtents()[product.m]),
                  b.number(shapeOf(op, real, "").rows))};
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

/// The parts of an example's rows.
Scheduler::Values GpuScheduler::scalarsOf(const StripGroup &group) {
  if (groupsOf(group.kernel))
    return {b.divUp(longest(group.rows), b.number(rowsOfAttention))};
  if (!group.isDivisible())
    return {b.number(1)};
  return {b.divUp(longest(group.rows),
                  b.number(TargetAttr::of(group.kernel).getStripRows()))};
}

/// The rows and the keys of an attention that nothing has copied. Its scalars
/// are the parts of each copy in an example, and in the batch.
void GpuScheduler::addCopies(KernelOp kernel) {
  if (!groupsOf(kernel))
    return;
  StripGroup group = stripsOf(kernel);
  Attention attention = *attentionIn(kernel);
  Value units = b.number(0);
  Value places = b.mul(batch(), b.number(group.numPlaces()));
  Values scalars;
  Uses uses;
  auto addCopy = [&](ComputeOp op, const Storage *copy, bool isOfRows) {
    if (!copy || !copied.insert(copy->slot).second)
      return;
    CopiedRows rows = isOfRows ? *attn::rowsOf(op) : *keysOf(attention, op);
    read(rows.array, uses);
    uses.writes.insert(copy->slot);
    Value tiles = b.divUp(longest(rows.count), b.number(copyRows));
    Value parts =
        b.mul(tiles, b.number(llvm::divideCeil(rows.size, copyTerms)));
    Value own = b.mul(places, parts);
    scalars.append({parts, own});
    units = b.add(units, own);
  };
  std::vector<Operation *> members;
  for (const StripMember &member : group.members) {
    members.push_back(member.op);
    addCopy(member.op, storage.packedLeftOf(member.op), /*isOfRows=*/true);
    addCopy(member.op, storage.packedOf(member.op), /*isOfRows=*/false);
  }
  if (!uses.writes.empty())
    add({.work = Work::copy,
         .op = kernel,
         .label = joinedLabels(members),
         .units = Units::tiles,
         .count = units,
         .scalars = scalars},
        uses);
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

bool GpuScheduler::addScatter(ComputeOp op) {
  const Storage *list = storage.rowListOf(op);
  if (!list)
    return false;
  Uses ofResult, ofTerms, ofLinks, all = usesOf(op);
  int slot = storage.of(op.getResult()).slot;
  ofResult.writes.insert(slot);
  ofTerms = arraysOf(op);
  ofTerms.writes.insert(list->slot);
  ofLinks.updates.insert(list->slot);
  if (all.writes.remove(slot))
    all.updates.insert(slot);
  Value terms = placesOf(list->layout);
  Run run{.work = Work::clear,
          .op = op,
          .label = op.getLabel().value_or("").str(),
          .units = Units::ranges};
  add(run, ofResult);
  run.work = Work::scatter;
  run.units = Units::examples;
  run.count = rowsAround(op);
  add(run, ofTerms);
  run.work = Work::link;
  run.units = Units::rows;
  run.count = terms;
  run.scalars = {terms};
  add(run, ofLinks);
  run.work = Work::compute;
  run.scalars.clear();
  add(run, all);
  return true;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool GpuScheduler::isPersistent(ScanOp op) { return staysOnDevice(op); }

bool GpuScheduler::listsAhead(ScanOp op) { return attn::listsAhead(op); }

Scheduler::StepTime GpuScheduler::timeInStep(Operation *op) {
  attn::StepTime time = timeOf(op);
  return {time.phase, time.turn};
}
