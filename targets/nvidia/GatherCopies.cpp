//===- GatherCopies.cpp - weights are copied by one launch ----------------===//
//
// Decides which copies of weights (Copies.h) one launch makes, before the first
// product that reads one of them. Weights exist from the start, so all copies
// can be made then, and the launch overhead is paid once.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Batch.h"
#include "passes/memory/Copies.h"
#include "passes/memory/Locations.h"
#include "targets/nvidia/KeepLoops.h"
#include "targets/nvidia/Passes.h"
#include "targets/nvidia/Target.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_GATHERCOPIES
#include "targets/nvidia/Passes.h.inc"
} // namespace fovea::attn

/// The parameters of a launch contain the addresses of an array and of its
/// copy.
static constexpr size_t mostGathered = mostSlotsOfLoop / 2;

namespace {
/// The first product that reads the copy of a weight, and whether the launch
/// before it would copy nothing else.
struct FirstReader {
  ComputeOp op;
  bool copiesOnlyWeights;
};

struct GatherCopies : fovea::attn::impl::GatherCopiesBase<GatherCopies> {
  SmallVector<FirstReader> firstReaders() {
    llvm::DenseSet<unsigned> made;
    getOperation().walk([&](ComputeOp op) {
      if (ArrayLocationAttr stored = storedCopyOf(op))
        made.insert(stored.getNumber());
    });
    SmallVector<FirstReader> readers;
    for (auto op : getOperation().getOps<ComputeOp>()) {
      ArrayLocationAttr left = packedLeftLocationOf(op),
                        right = packedLocationOf(op);
      if (!left || !right)
        continue;
      bool copiesLeft = made.insert(left.getNumber()).second;
      bool isFirst = made.insert(right.getNumber()).second;
      if (isFirst && copiedWeight(op))
        readers.push_back({op, !copiesLeft});
    }
    return readers;
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    if (!nvidiaTargetOf(getOperation()))
      return;
    SmallVector<FirstReader> readers = firstReaders();
    if (llvm::count_if(readers, [](const FirstReader &reader) {
          return reader.copiesOnlyWeights;
        }) < 2)
      return;
    for (size_t first = 0; first < readers.size(); first += mostGathered) {
      SmallVector<Attribute> copies;
      for (const FirstReader &reader :
           ArrayRef(readers).drop_front(first).take_front(mostGathered))
        copies.push_back(packedLocationOf(reader.op));
      readers[first].op->setAttr(gatheredName,
                                 ArrayAttr::get(&getContext(), copies));
    }
  }
};
} // namespace
