//===- Twins.cpp - sums that one loop computes ----------------------------===//

#include "codegen/cpu/loops/Twins.h"
#include "passes/analysis/CommonFunctions.h"
#include "passes/batch/Batch.h"
#include "passes/kernels/VectorIndex.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

/// Whether a sum adds up what it evaluates element by element: no product, and
/// nothing that a condition finds the place of.
static bool isPlainSum(ComputeOp op) {
  return op.getReducer() == Reducer::sum && op.getElementType().isF64() &&
         !op->getParentOfType<ScanOp>() && hasCostlyFunction(op) &&
         llvm::none_of(equalitiesOf(op), [&](const Equality &equality) {
           return equality.index < op.getNumParallel();
         });
}

static bool areTwins(ComputeOp a, ComputeOp b) {
  auto any = [](unsigned) { return true; };
  return a.getNumParallel() == b.getNumParallel() &&
         a.getNumIndices() == b.getNumIndices() && batchOf(a) == batchOf(b) &&
         // Alone they would have vectors along the same index.
         vectorIndex(a, any) == vectorIndex(b, any) &&
         evaluateTogether(a, b, llvm::to_vector(llvm::seq(a.getNumIndices())));
}

/// Whether both are computed strip by strip, at the same rows, and none of it
/// is a strip: that may lie where the other one still reads.
static bool areInStrips(const StripGroup &group, ComputeOp a, ComputeOp b) {
  auto memberOf = [&](ComputeOp op) {
    return llvm::find_if(group.members, [&](const StripMember &member) {
      return member.op == op;
    });
  };
  return memberOf(a)->shared == memberOf(b)->shared &&
         llvm::none_of(group.strips, [&](const StripGroup::Strip &strip) {
           return strip.array == a.getResult() || strip.array == b.getResult();
         });
}

SmallVector<ComputeOp> fovea::codegen::twinsFrom(ComputeOp op,
                                                 const StorageMap &storage) {
  SmallVector<ComputeOp> twins = {op};
  if (!isPlainSum(op))
    return twins;
  const StripGroup *group = storage.groupOf(op);
  while (auto next = dyn_cast_or_null<ComputeOp>(twins.back()->getNextNode())) {
    bool readsTwin = false;
    next->walk([&](ReadOp read) {
      for (Value operand : read->getOperands())
        readsTwin |= llvm::is_contained(twins, operand.getDefiningOp());
    });
    if (readsTwin || !isPlainSum(next) || storage.groupOf(next) != group ||
        !areTwins(op, next) || (group && !areInStrips(*group, op, next)))
      break;
    twins.push_back(next);
  }
  return twins;
}
