//===- KeepLoops.cpp - loops that stay on a device ------------------------===//
//
// A step of a recurrence is little work for a device, and as many launches as
// it has kernels. Here it is decided which loops are one launch instead, in
// which all blocks wait for each other between the phases of a step, and of
// which phase each op is.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/KeepLoops.h"
#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/ChooseTiles.h"
#include "passes/kernels/Members.h"
#include "passes/memory/Locations.h"
#include "llvm/ADT/SmallSet.h"

#include <limits>

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_KEEPLOOPS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

static constexpr StringLiteral staysAttribute = "attn.stays",
                               phaseAttribute = "attn.phase";

bool fovea::attn::staysOnDevice(ScanOp loop) {
  return loop->hasAttr(staysAttribute);
}

int64_t fovea::attn::phaseOf(Operation *op) {
  auto phase = op->getAttrOfType<IntegerAttr>(phaseAttribute);
  return phase ? phase.getInt() : std::numeric_limits<int64_t>::max();
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
/// the memory on the chip that its code says.
static bool fitsBesideOthers(Operation &op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return kernel.getSchedule() == Schedule::rows ||
           kernel.getSchedule() == Schedule::loop;
  if (auto compute = dyn_cast<ComputeOp>(op))
    return !productOf(compute) || tilesOf(compute) == Tiles::small;
  return isa<ConcatOp, AppendOp>(op);
}

namespace {
struct KeepLoops : fovea::attn::impl::KeepLoopsBase<KeepLoops> {
  void keep(ScanOp loop) {
    // One step, or two, are not worth a launch of their own.
    constexpr int64_t leastSteps = 3;
    if (auto steps = dyn_cast<IntegerAttr>(loop.getExtent());
        steps && steps.getInt() < leastSteps)
      return;
    SmallVector<std::pair<Operation *, Touched>> ops;
    for (Operation &op : loop.getBody().front()) {
      if (!isLaunched(op))
        continue;
      if (!fitsBesideOthers(op))
        return;
      ops.push_back({&op, touchedBy(op)});
      if (ops.back().second.isUnknown)
        return;
    }
    SmallVector<int64_t> phases;
    for (auto [number, own] : llvm::enumerate(ops)) {
      int64_t phase = 0;
      for (size_t before = 0; before < number; ++before)
        if (own.second.meets(ops[before].second))
          phase = std::max(phase, phases[before] + 1);
      phases.push_back(phase);
    }
    Builder builder(&getContext());
    loop->setAttr(staysAttribute, builder.getUnitAttr());
    for (auto [own, phase] : llvm::zip(ops, phases))
      own.first->setAttr(phaseAttribute, builder.getI64IntegerAttr(phase));
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
