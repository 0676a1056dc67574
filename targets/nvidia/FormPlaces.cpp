//===- FormPlaces.cpp - equations of many rows, row by row ----------------===//
//
// A launch costs a GPU as much as a small equation. Outside of loops, equations
// that read each other at their own place, as those of a layer norm do, become
// one kernel. Its units are the places of all examples, and a group of threads
// does all equations at one place. What they give stays the same.
//
//===----------------------------------------------------------------------===//

#include "targets/nvidia/FormPlaces.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/VectorIndex.h"
#include "passes/kernels/Members.h"
#include "targets/nvidia/Passes.h"
#include "targets/nvidia/Target.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FORMPLACES
#include "targets/nvidia/Passes.h.inc"
} // namespace fovea::attn

/// A kernel is one function, and its arrays are parameters of a launch.
static constexpr size_t mostMembers = 32;

/// All rows of a kernel are in memory at the same time. Longer ones would be
/// out of the nearest cache, and take more time than their launch.
static constexpr int64_t mostNumbers = 4096;

bool fovea::attn::hasShortRows(ArrayType type) {
  int64_t count = 1;
  for (int64_t axis = 1; axis < type.getRank(); ++axis) {
    std::optional<int64_t> number = numberOf(type.getExtent(axis));
    if (!number || (count *= *number) > mostNumbers)
      return false;
  }
  return true;
}

/// The extent of the places at which an equation can be computed separately, or
/// null.
static StringAttr placesOf(ComputeOp op, ProgramOp program) {
  if (batchOf(op) != BatchKind::each || op.getNumParallel() == 0 ||
      productOf(op) || scatteredBy(op) ||
      !hasShortRows(op.getResult().getType()))
    return {};
  auto extent = dyn_cast<StringAttr>(op.getExtents()[0]);
  if (!extent || variesInside(extent, program))
    return {};
  // All threads of a group would compute the whole sum.
  bool isOneSum = op.getNumParallel() == 1 && op.getNumReduction() != 0;
  return isOneSum && partialIndex(op) < 0 ? StringAttr() : extent;
}

namespace {
/// Equations with the same places, in order, and views of their results.
struct RunOfPlaces {
  StringAttr over;
  SmallVector<Operation *> ops;
  /// Sums over all examples that read them, and can wait for the kernel.
  SmallVector<Operation *> waiting;
  /// What the ops read and give, and what the waiting sums give.
  llvm::DenseSet<Value> read, given, sums;
  size_t numMembers = 0;
  bool isOpen = true;

  void add(Operation *op);
  /// Notes an op between two members, which may end the run.
  void pass(Operation &op);
  bool canAdd(ComputeOp op) const;
  bool canAdd(ReshapeOp view) const;
};

struct FormPlaces : fovea::attn::impl::FormPlacesBase<FormPlaces> {
  void runOnOperation() override;
};
} // namespace

void RunOfPlaces::add(Operation *op) {
  forArrays(*op, [&](Operation *, Value array) { read.insert(array); });
  given.insert(op->getResult(0));
  numMembers += isa<ComputeOp>(op);
  ops.push_back(op);
}

void RunOfPlaces::pass(Operation &op) {
  bool readsGiven = false, readsSums = false;
  forArrays(op, [&](Operation *, Value array) {
    readsGiven |= given.contains(array);
    readsSums |= sums.contains(array);
  });
  auto compute = dyn_cast<ComputeOp>(op);
  // An appended row is in the memory of what others read.
  if (readsSums || isa<AppendOp>(op)) {
    isOpen = false;
  } else if (readsGiven) {
    isOpen = compute && batchOf(compute) == BatchKind::sum;
    if (!isOpen)
      return;
    waiting.push_back(compute);
    sums.insert(compute.getResult());
  }
}

/// Whether the equation reads what the others read or give, and what they give
/// at its own place alone.
bool RunOfPlaces::canAdd(ComputeOp op) const {
  bool isRelated = false, isAtPlace = true;
  forArrays(*op, [&](Operation *user, Value array) {
    isRelated |= read.contains(array) || given.contains(array);
    isAtPlace &= !sums.contains(array);
    if (!given.contains(array))
      return;
    auto reader = dyn_cast<ReadOp>(user);
    isAtPlace &= reader && reader.isAtFirstIndex(array);
  });
  return isRelated && isAtPlace && numMembers < mostMembers;
}

bool RunOfPlaces::canAdd(ReshapeOp view) const {
  ArrayRef<Attribute> shape = view.getType().getShape().getValue();
  return given.contains(view.getOperand()) && !shape.empty() &&
         shape.front() == over;
}

static std::vector<RunOfPlaces> findRuns(ProgramOp program) {
  std::vector<RunOfPlaces> runs;
  for (Operation &op : program.getBody().front()) {
    auto compute = dyn_cast<ComputeOp>(op);
    auto view = dyn_cast<ReshapeOp>(op);
    StringAttr over = compute ? placesOf(compute, program) : StringAttr();
    RunOfPlaces *own = nullptr;
    for (RunOfPlaces &run : runs) {
      if (!run.isOpen)
        continue;
      bool isMember = over ? over == run.over && run.canAdd(compute)
                           : view && run.canAdd(view);
      if (isMember && !own)
        own = &run;
      else
        run.pass(op);
    }
    if (own) {
      own->add(&op);
    } else if (over) {
      runs.emplace_back().over = over;
      runs.back().add(&op);
    }
  }
  return runs;
}

void FormPlaces::runOnOperation() {
  ProgramOp program = getOperation();
  if (failed(verifyBatched(program)))
    return signalPassFailure();
  // A step of a search has kernels of rows.
  if (!nvidiaTargetOf(program) || program->hasAttr(preparesName))
    return;
  for (RunOfPlaces &run : findRuns(program)) {
    if (run.numMembers < 2)
      continue;
    dropViews(run.ops);
    KernelOp kernel = makeKernel(Schedule::places, run.ops, run.over);
    auto isView = [&](Operation *op) {
      auto view = dyn_cast_or_null<ReshapeOp>(op);
      return view && throughViews(view).getDefiningOp() == kernel;
    };
    // Sums may read the views that have moved.
    Operation *last = kernel;
    while (isView(last->getNextNode()))
      last = last->getNextNode();
    for (Operation *sum : run.waiting)
      if (sum->isBeforeInBlock(last)) {
        sum->moveAfter(last);
        last = sum;
      }
  }
}
