//===- KeepLoops.cpp - loops that stay on a device ------------------------===//
//
// A step of a recurrence is little work for a device, and needs a launch
// per kernel. Decides which loops become one launch instead, in which all
// blocks synchronise between the phases of a step, and assigns each op to a
// phase.
//
//===----------------------------------------------------------------------===//

#include "targets/nvidia/KeepLoops.h"
#include "dialect/Precision.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/DivideWork.h"
#include "passes/kernels/Members.h"
#include "passes/memory/Locations.h"
#include "runtime/Program.h"
#include "targets/nvidia/ChooseTiles.h"
#include "targets/nvidia/Passes.h"
#include "targets/nvidia/Target.h"
#include "targets/nvidia/Tiles.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_KEEPLOOPS
#include "targets/nvidia/Passes.h.inc"
} // namespace fovea::attn

static constexpr StringLiteral phaseAttribute = "attn.phase",
                               turnAttribute = "attn.turn",
                               listsAttribute = "attn.lists_ahead",
                               keptAttribute = "attn.kept_columns";

bool fovea::attn::staysOnDevice(ScanOp loop) {
  return loop->hasAttr(staysName);
}

bool fovea::attn::listsAhead(ScanOp loop) {
  return loop->hasAttr(listsAttribute);
}

StepTime fovea::attn::timeOf(Operation *op) {
  auto phase = op->getAttrOfType<IntegerAttr>(phaseAttribute);
  auto turn = op->getAttrOfType<IntegerAttr>(turnAttribute);
  assert(phase && "an op of a loop that stays on the device");
  return {phase.getInt(), turn ? turn.getInt() : 0};
}

bool fovea::attn::hasBlockOfExample(Operation *op) {
  return unitsOf(op) == Units::examples;
}

/// Null: `op` has other tiles, or rows that are not of a batch.
static std::optional<RowsProduct> smallProductOf(ComputeOp op) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  if (product && product->isByRows() && tilesOf(op) == Tiles::small)
    return product;
  return std::nullopt;
}

std::optional<KeptColumns> fovea::attn::keptColumnsOf(ComputeOp op) {
  auto first = op->getAttrOfType<IntegerAttr>(keptAttribute);
  if (!first)
    return std::nullopt;
  std::optional<RowsProduct> product = smallProductOf(op);
  assert(product && "only small products keep columns");
  int64_t columns = product->columns();
  return KeptColumns{first.getInt(),
                     (columns + smallColumns - 1) / smallColumns,
                     product->count};
}

int64_t fovea::attn::keptBytesOf(ScanOp loop, int64_t bytesOfNumber) {
  int64_t terms = 0;
  for (auto op : loop.getOps<ComputeOp>())
    if (auto kept = keptColumnsOf(op))
      terms += kept->strips * llvm::alignTo(kept->terms, termsOfPiece);
  int64_t ofPiece = termsOfPiece * smallColumns * bytesOfNumber;
  int64_t most =
      TargetAttr::of(loop->getParentOfType<ProgramOp>()).getSharedBytes();
  return std::min(terms / termsOfPiece, most / ofPiece) * ofPiece;
}

namespace {
/// The memories of a program that an op touches, by number.
struct Touched {
  llvm::SmallSet<unsigned, 8> reads, writes;
  /// An array with an unknown location.
  bool isUnknown = false;

  void add(ArrayLocationAttr location, llvm::SmallSet<unsigned, 8> &set) {
    if (!location)
      isUnknown = true;
    else if (location.isMemory())
      set.insert(location.getNumber());
  }
  bool meets(const Touched &before) const {
    auto anyOf = [](const auto &ones, const auto &others) {
      return llvm::any_of(
          ones, [&](unsigned number) { return others.contains(number); });
    };
    return anyOf(writes, before.writes) || anyOf(writes, before.reads) ||
           anyOf(reads, before.writes);
  }
};
} // namespace

static Touched touchedBy(Operation &op) {
  Touched touched;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<ArrayType>(operand.getType()))
        touched.add(locationOf(operand), touched.reads);
    for (Value result : inner->getResults())
      if (isa<ArrayType>(result.getType()))
        touched.add(locationOf(result), touched.writes);
    if (auto compute = dyn_cast<ComputeOp>(inner))
      if (ArrayLocationAttr list = listLocationOf(compute))
        touched.add(list, touched.writes);
  });
  return touched;
}

/// Returns whether the loop's common block size, with the static on-chip
/// memory, can compute it: products in small tiles, or with rounded factors,
/// for which loops have such tiles.
static bool fitsBesideOthers(Operation &op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return kernel.getSchedule() == Schedule::rows ||
           kernel.getSchedule() == Schedule::loop;
  if (auto compute = dyn_cast<ComputeOp>(op))
    return !productOf(compute) || precisionOf(compute) ||
           tilesOf(compute) == Tiles::small;
  return isa<ConcatOp, AppendOp>(op);
}

namespace {
/// An op of a step.
struct OpOfStep {
  Operation *op;
  Touched touched;
  StepTime time = {};

  /// The earliest time of `next`, which needs this op.
  StepTime earliestFor(const OpOfStep &next) const;
};
} // namespace

StepTime OpOfStep::earliestFor(const OpOfStep &next) const {
  StepTime end = time;
  bool isOfBlock = hasBlockOfExample(op);
  if (auto compute = dyn_cast<ComputeOp>(op))
    if (auto product = rowsProductOf(compute);
        product && product->hasRowCondition) {
      // After the product, a block clears the rows of an example.
      isOfBlock = true;
      end = {end.phase + 1, 0};
    }
  if (isOfBlock && hasBlockOfExample(next.op))
    return {end.phase, end.turn + 1};
  return {end.phase + 1, 0};
}

/// The maximum number of slots that a loop reads: the address and layout of
/// each memory, the rows and terms of each product, and the values, maximum and
/// order of each length. Its own step and rows, and those of every frame, come
/// on top.
static int64_t mostSlots(ArrayRef<OpOfStep> ops, ProgramOp program) {
  llvm::SmallSet<unsigned, 8> memories;
  for (const OpOfStep &each : ops) {
    memories.insert(each.touched.reads.begin(), each.touched.reads.end());
    memories.insert(each.touched.writes.begin(), each.touched.writes.end());
  }
  auto lengths = program.getOps<LengthOp>();
  return 2 * static_cast<int64_t>(memories.size() + ops.size()) +
         4 * std::distance(lengths.begin(), lengths.end()) + 2 +
         runtime::Program::firstFreeSlot;
}

/// Returns whether no step writes the weights of a product.
static bool hasConstantWeights(RowsProduct product, ScanOp loop,
                               ArrayRef<OpOfStep> ops) {
  Value weights = product.right.getArray();
  ArrayLocationAttr location = locationOf(weights);
  if (weights.getParentBlock() == &loop.getBody().front() || !location ||
      !location.isMemory())
    return false;
  unsigned number = location.getNumber();
  return llvm::none_of(ops, [&](const OpOfStep &each) {
    return each.touched.writes.contains(number);
  });
}

/// The ops of a step; none if blocks cannot compute them in
/// sequence.
static SmallVector<OpOfStep> opsOf(ScanOp loop) {
  SmallVector<OpOfStep> ops;
  for (Operation &op : loop.getBody().front()) {
    if (!isLaunched(op))
      continue;
    if (!fitsBesideOthers(op))
      return {};
    ops.push_back({&op, touchedBy(op)});
    if (ops.back().touched.isUnknown)
      return {};
  }
  if (mostSlots(ops, loop->getParentOfType<ProgramOp>()) > mostSlotsOfLoop)
    return {};
  return ops;
}

/// Each op is scheduled as soon as its dependences are computed.
static void chooseTimes(MutableArrayRef<OpOfStep> ops) {
  for (auto [number, own] : llvm::enumerate(ops))
    for (const OpOfStep &before : ops.take_front(number))
      if (own.touched.meets(before.touched))
        own.time = std::max(own.time, before.earliestFor(own));

  for (const OpOfStep &own : ops) {
    Builder builder(own.op->getContext());
    own.op->setAttr(phaseAttribute, builder.getI64IntegerAttr(own.time.phase));
    if (own.time.turn != 0)
      own.op->setAttr(turnAttribute, builder.getI64IntegerAttr(own.time.turn));
  }
}

/// A step may list the rows of the next one, unless a product of its last phase
/// still reads its own list.
static bool canListAhead(ArrayRef<OpOfStep> ops) {
  int64_t last = 0, lastWithList = -1;
  for (const OpOfStep &own : ops) {
    last = std::max(last, own.time.phase);
    auto compute = dyn_cast<ComputeOp>(own.op);
    if (compute && listLocationOf(compute))
      lastWithList = std::max(lastWithList, own.time.phase);
  }
  return lastWithList >= 0 && lastWithList < last;
}

/// Products with loop-invariant weights keep columns of them on the chip.
static void keepColumns(ScanOp loop, ArrayRef<OpOfStep> ops) {
  Builder builder(loop.getContext());
  int64_t strips = 0;
  for (const OpOfStep &own : ops) {
    auto compute = dyn_cast<ComputeOp>(own.op);
    auto product = compute ? smallProductOf(compute) : std::nullopt;
    if (!product || !hasConstantWeights(*product, loop, ops))
      continue;
    compute->setAttr(keptAttribute, builder.getI64IntegerAttr(strips));
    strips += keptColumnsOf(compute)->strips;
  }
}

//===----------------------------------------------------------------------===//
// Contract
//===----------------------------------------------------------------------===//

/// Checks that each op is computed after the ops that it depends on.
static LogicalResult verifyTimes(MutableArrayRef<OpOfStep> ops) {
  for (OpOfStep &own : ops) {
    if (!own.op->hasAttr(phaseAttribute))
      return own.op->emitOpError() << "has no '" << phaseAttribute
                                   << "', but its loop stays on the device";
    own.time = timeOf(own.op);
  }
  for (auto [number, own] : llvm::enumerate(ops))
    for (const OpOfStep &before : ops.take_front(number)) {
      StepTime earliest = before.earliestFor(own);
      if (own.time >= earliest || !own.touched.meets(before.touched))
        continue;
      InFlightDiagnostic diag =
          own.op->emitOpError()
          << "is computed in phase " << own.time.phase << ", turn "
          << own.time.turn << ", but an op that it depends on allows phase "
          << earliest.phase << ", turn " << earliest.turn << " at the earliest";
      diag.attachNote(before.op->getLoc()) << "it depends on this op";
      return diag;
    }
  return success();
}

/// Checks that products which keep columns have strips of their own.
static LogicalResult verifyKeptColumns(ScanOp loop, ArrayRef<OpOfStep> ops) {
  int64_t strips = 0;
  for (const OpOfStep &own : ops) {
    auto first = own.op->getAttrOfType<IntegerAttr>(keptAttribute);
    if (!first)
      continue;
    auto compute = cast<ComputeOp>(own.op);
    std::optional<RowsProduct> product = smallProductOf(compute);
    if (!product || !hasConstantWeights(*product, loop, ops))
      return compute.emitOpError()
             << "keeps columns, but is no product in small tiles whose weights "
                "no step writes";
    if (first.getInt() != strips)
      return compute.emitOpError()
             << "keeps columns from strip " << first.getInt()
             << " on, but the products before it have " << strips << " strips";
    strips += keptColumnsOf(compute)->strips;
  }
  return success();
}

LogicalResult fovea::attn::verifyKeptLoops(ProgramOp program) {
  WalkResult walk = program.walk([&](ScanOp loop) -> WalkResult {
    if (!staysOnDevice(loop))
      return WalkResult::advance();
    SmallVector<OpOfStep> ops = opsOf(loop);
    if (ops.empty() || TargetAttr::of(program).getSharedBytes() == 0)
      return loop.emitOpError()
             << "stays on the device, but its step cannot be computed by "
                "blocks that wait for each other";
    if (failed(verifyTimes(ops)) || failed(verifyKeptColumns(loop, ops)))
      return failure();
    if (listsAhead(loop) && !canListAhead(ops))
      return loop.emitOpError()
             << "lists rows ahead, but no product of its step has a list that "
                "is free in the last phase";
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

namespace {
struct KeepLoops : fovea::attn::impl::KeepLoopsBase<KeepLoops> {
  void keep(ScanOp loop) {
    // One step, or two, do not justify a cooperative launch.
    constexpr int64_t leastSteps = 3;
    if (auto steps = dyn_cast<IntegerAttr>(loop.getExtent());
        steps && steps.getInt() < leastSteps)
      return;
    SmallVector<OpOfStep> ops = opsOf(loop);
    if (ops.empty())
      return;
    chooseTimes(ops);
    keepColumns(loop, ops);
    loop->setAttr(staysName, UnitAttr::get(&getContext()));
    if (canListAhead(ops))
      loop->setAttr(listsAttribute, UnitAttr::get(&getContext()));
  }

  void runOnOperation() override {
    // Blocks share memory on the chip, and a host launches them.
    NvidiaTargetAttr target = nvidiaTargetOf(getOperation());
    if (!target || target.getSharedBytes() == 0)
      return;
    getOperation().walk([&](ScanOp loop) { keep(loop); });
  }
};
} // namespace
