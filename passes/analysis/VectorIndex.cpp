//===- VectorIndex.cpp - along which index there are vectors --------------===//

#include "passes/analysis/VectorIndex.h"
#include "dialect/conditions/IndexEquations.h"
#include "dialect/conditions/LinearForm.h"
#include "passes/analysis/Access.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea::attn;

/// The coefficient of index number `number` in an index of a read, or nothing
/// if it is not linear.
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

/// Returns whether LLVM would call the C library, lane by lane, for parts of
/// the op.
static bool dividesInLanes(ComputeOp op) {
  WalkResult walk = op.walk([](Operation *inner) {
    return isa<arith::RemFOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
               arith::DivSIOp, arith::RemSIOp>(inner) &&
                   !inner->getResult(0).getType().isIndex()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Rates index number `number` for vectorisation: the number of
/// contiguous reads and of gathers. Nothing for an index that is too
/// short.
static std::optional<int> scoreOf(ComputeOp op, unsigned number) {
  auto extent = dyn_cast<IntegerAttr>(op.getExtents()[number]);
  if (extent && extent.getInt() < 4)
    return std::nullopt;
  int score = extent && extent.getInt() < partialResults ? -1 : 0;
  bool gathers = false;
  op.walk([&](ReadOp read) {
    int own = scoreOf(read, number);
    score += own;
    gathers |= own < 0;
  });
  // If both read only neighbours: lanes of a sum must be combined.
  if (number < op.getNumParallel() && score >= 2 && !gathers)
    score += 2;
  return score >= 0 ? std::optional(score) : std::nullopt;
}

/// The last parallel index, if results can be stored as vectors along it.
static int lastParallel(ComputeOp op) {
  if (op.isNormaliser() || op.getReducer() == Reducer::argmax ||
      op.getReducer() == Reducer::argmin)
    return -1;
  return static_cast<int>(op.getNumParallel()) - 1;
}

/// Returns whether another index has a separate length for each place of index
/// `number`: its loop has one end, so `number` has one place.
static bool hasNested(ComputeOp op, unsigned number) {
  auto parent = dyn_cast<StringAttr>(op.getExtents()[number]);
  Lengths lengths(op);
  return parent && llvm::any_of(op.getExtents(), [&](Attribute extent) {
           return lengths.parentOf(extent) == parent;
         });
}

int fovea::attn::partialIndex(ComputeOp op) {
  OrderAttr order = op.getOrderAttr();
  return order ? static_cast<int>(order.getLanes()) : -1;
}

bool fovea::attn::isFused(ComputeOp op) {
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != &op.getBody().front())
    return false;
  OrderAttr order = op.getOrderAttr();
  return order ? order.getFused() : true;
}

int fovea::attn::bestPartialIndex(ComputeOp op) {
  if (!combinesVectors(op.getReducer()) || dividesInLanes(op) ||
      scatteredBy(op))
    return -1;
  int best = -1, bestScore = -1;
  if (int last = lastParallel(op); last >= 0 && !hasNested(op, last))
    bestScore = scoreOf(op, last).value_or(-1);
  for (unsigned number = op.getNumParallel(); number < op.getNumIndices();
       ++number) {
    if (hasNested(op, number))
      continue;
    if (int score = scoreOf(op, number).value_or(-1); score > bestScore) {
      best = number;
      bestScore = score;
    }
  }
  return best;
}

int fovea::attn::vectorIndex(ComputeOp op,
                             llvm::function_ref<bool(unsigned)> isAllowed) {
  if (int partial = partialIndex(op); partial >= 0)
    return partial;
  int last = lastParallel(op);
  return last >= 0 && isAllowed(last) && !hasNested(op, last) &&
                 !dividesInLanes(op) && scoreOf(op, last)
             ? last
             : -1;
}

int fovea::attn::vectorIndex(ComputeOp op) {
  return vectorIndex(op, [](unsigned) { return true; });
}
