//===- KeepLoops.cpp - loops that stay on a device ------------------------===//
//
// A step of a recurrence is little work for a device, and as many launches as
// it has kernels. Here it is decided which loops are one launch instead, in
// which all blocks wait for each other between the phases of a step, and of
// which phase each op is.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/KeepLoops.h"
#include "dialect/Precision.h"
#include "dialect/Tiles.h"
#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/ChooseTiles.h"
#include "passes/kernels/DivideWork.h"
#include "passes/kernels/Members.h"
#include "passes/memory/Locations.h"
#include "runtime/Program.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_KEEPLOOPS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

static constexpr StringLiteral staysAttribute = "attn.stays",
                               phaseAttribute = "attn.phase",
                               turnAttribute = "attn.turn",
                               listsAttribute = "attn.lists_ahead",
                               keptAttribute = "attn.kept_columns";

bool fovea::attn::staysOnDevice(ScanOp loop) {
  return loop->hasAttr(staysAttribute);
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

/// Null: the tiles of `op` are others, or it has rows of no batch.
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
      MachineAttr::of(loop->getParentOfType<ProgramOp>()).getSharedBytes();
  return std::min(terms / termsOfPiece, most / ofPiece) * ofPiece;
}

namespace {
/// The memories of a program that an op touches, by their numbers.
struct Touched {
  llvm::SmallSet<unsigned, 8> reads, writes;
  /// An array of which nobody knows where it lies.
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

/// Whether blocks of the size that all kernels of a loop have compute it, with
/// the memory on the chip that its code says: products in small tiles, or of
/// rounded factors, of which a loop has tiles for such blocks.
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
      // After the product a block clears the rows of an example.
      isOfBlock = true;
      end = {end.phase + 1, 0};
    }
  if (isOfBlock && hasBlockOfExample(next.op))
    return {end.phase, end.turn + 1};
  return {end.phase + 1, 0};
}

/// The slots that a loop reads at most: of each memory its address and its
/// layout, of each product its rows and terms, of each length its values, their
/// maximum and two of its order, and its own step and rows beside those that
/// every frame has.
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

/// Whether no step writes the weights of a product.
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

/// The ops of a step, or none where blocks cannot compute them one after the
/// other.
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

/// Each op is computed as soon as the ops are that it depends on.
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

/// Products whose weights no step writes keep columns of them on the chip.
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

namespace {
struct KeepLoops : fovea::attn::impl::KeepLoopsBase<KeepLoops> {
  void keep(ScanOp loop) {
    // One step, or two, are not worth a launch of their own.
    constexpr int64_t leastSteps = 3;
    if (auto steps = dyn_cast<IntegerAttr>(loop.getExtent());
        steps && steps.getInt() < leastSteps)
      return;
    SmallVector<OpOfStep> ops = opsOf(loop);
    if (ops.empty())
      return;
    chooseTimes(ops);
    keepColumns(loop, ops);
    loop->setAttr(staysAttribute, UnitAttr::get(&getContext()));
    if (canListAhead(ops))
      loop->setAttr(listsAttribute, UnitAttr::get(&getContext()));
  }

  void runOnOperation() override {
    // Where there is memory on the chip, there are blocks that share it, and a
    // host that launches them.
    MachineAttr machine = MachineAttr::of(getOperation());
    if (!machine || machine.getSharedBytes() == 0)
      return;
    getOperation().walk([&](ScanOp loop) { keep(loop); });
  }
};
} // namespace
