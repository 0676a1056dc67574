//===- VectorIndex.cpp - along which index there are vectors --------------===//

#include "passes/kernels/VectorIndex.h"
#include "dialect/LinearForm.h"
#include "passes/analysis/Access.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea::attn;

/// The factor of index number `number` in an index of a read, or nothing when
/// it is not linear in it.
static std::optional<int64_t> factorOf(Value value, unsigned number) {
  if (!(dependence(value) >> number & 1))
    return 0;
  std::optional<LinearForm> form = LinearForm::of(value);
  if (!form)
    return std::nullopt;
  int64_t result = 0;
  for (auto [term, factor] : form->terms) {
    if (!(dependence(term) >> number & 1))
      continue;
    if (!isa<BlockArgument>(term))
      return std::nullopt;
    result += factor;
  }
  return result;
}

/// +2 for a read of neighbours, -4 for a gather, 0 for one value for all.
static int scoreOf(ReadOp read, unsigned number) {
  int64_t axes = read.getIndices().size();
  for (auto [axis, index] : llvm::enumerate(read.getIndices())) {
    std::optional<int64_t> factor = factorOf(index, number);
    if (factor == 0)
      continue;
    bool isLast = static_cast<int64_t>(axis) == axes - 1;
    return isLast && factor == 1 ? 2 : -4;
  }
  return 0;
}

static bool combinesVectors(Reducer reducer) {
  switch (reducer) {
  case Reducer::sum:
  case Reducer::prod:
  case Reducer::mean:
  case Reducer::max:
  case Reducer::min:
  case Reducer::any:
  case Reducer::all:
  case Reducer::logsumexp:
  case Reducer::softmax:
  case Reducer::log_softmax:
    return true;
  default:
    return false;
  }
}

int fovea::attn::vectorIndex(ComputeOp op,
                             llvm::function_ref<bool(unsigned)> isAllowed) {
  unsigned numParallel = op.getNumParallel(), numIndices = op.getNumIndices();
  // Ops that LLVM would call the C library for, lane by lane.
  WalkResult walk = op.walk([](Operation *inner) {
    return isa<arith::RemFOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
               arith::DivSIOp, arith::RemSIOp>(inner) &&
                   !inner->getResult(0).getType().isIndex()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return -1;
  int best = -1, bestScore = -1;
  auto consider = [&](unsigned number) {
    auto extent = dyn_cast<IntegerAttr>(op.getExtents()[number]);
    if (!isAllowed(number) || (extent && extent.getInt() < 4))
      return;
    int score = extent && extent.getInt() < partialResults ? -1 : 0;
    bool gathers = false;
    op.walk([&](ReadOp read) {
      int own = scoreOf(read, number);
      score += own;
      gathers |= own < 0;
    });
    // Where both read neighbours only: lanes of a sum have to be joined.
    if (number < numParallel && score >= 2 && !gathers)
      score += 2;
    if (score > bestScore) {
      best = number;
      bestScore = score;
    }
  };
  if (numParallel != 0 && !op.isNormaliser() &&
      op.getReducer() != Reducer::argmax && op.getReducer() != Reducer::argmin)
    consider(numParallel - 1);
  if (combinesVectors(op.getReducer()))
    for (unsigned number = numParallel; number < numIndices; ++number)
      consider(number);
  return best;
}
