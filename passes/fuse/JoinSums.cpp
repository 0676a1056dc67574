//===- JoinSums.cpp - sums of the same functions become alike -------------===//
//
// If two sums evaluate the same costly function at the same places, the one
// with more terms is split: a sum with the indices of the other, and the sum of
// its result. `attn-share-loops` then computes both in one loop, which
// evaluates the function once.
//
// Does nothing inside a program's loop: the partial sums of a step would be
// rows of the loop.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/CommonFunctions.h"
#include "passes/analysis/Equations.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_JOINSUMS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// The number of saved function evaluations per element of the new array, below
/// which splitting does not pay off.
static constexpr int64_t leastShared = 4;

//===----------------------------------------------------------------------===//
// Which sums
//===----------------------------------------------------------------------===//

/// A sum that evaluates a function, once or many times per element, and has no
/// order yet: only derivatives are combined.
static bool isCandidate(ComputeOp op, ProgramOp program) {
  if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
      op.getOrderAttr() || !hasCostlyFunction(op) ||
      llvm::any_of(op.getExtents(), [&](Attribute extent) {
        return variesInside(extent, program);
      }))
    return false;
  // A condition that determines a place from the others scatters its terms.
  bool findsPlaces = false;
  op.getCondition().walk([&](arith::CmpIOp compare) {
    findsPlaces |= compare.getPredicate() == arith::CmpIPredicate::eq;
  });
  return !findsPlaces;
}

/// Returns whether the sum has enough terms, as far as that is known.
static bool sharesEnough(ComputeOp op) {
  int64_t count = 1;
  for (Attribute extent :
       op.getExtents().getValue().drop_front(op.getNumParallel())) {
    auto number = dyn_cast<IntegerAttr>(extent);
    if (!number)
      return true;
    count *= number.getInt();
  }
  return count >= leastShared;
}

namespace {
/// How two sums become alike: `split`, if it is one of them, has more terms
/// than the other.
struct Match {
  ComputeOp split;
  /// For each index of `split`, the matching index of the other sum.
  IndexMap places;
};
} // namespace

/// Returns whether `b` has all terms of `a`, and more.
static bool addsMore(ComputeOp a, ComputeOp b, ArrayRef<unsigned> places) {
  for (auto [inB, inA] : llvm::enumerate(places))
    if (inA >= a.getNumParallel() && inB < b.getNumParallel())
      return false;
  BatchKind ofA = batchOf(a), ofB = batchOf(b);
  if (ofA == ofB)
    return a.getNumParallel() > b.getNumParallel();
  return ofA == BatchKind::each && ofB == BatchKind::sum;
}

static bool areAlike(ComputeOp a, ComputeOp b, ArrayRef<unsigned> places) {
  return batchOf(a) == batchOf(b) && a.getNumParallel() == b.getNumParallel() &&
         llvm::equal(places, llvm::seq<unsigned>(0, places.size()));
}

/// How `a` and `b` become alike, if splitting is allowed.
static std::optional<Match> match(ComputeOp a, bool maySplitA, ComputeOp b) {
  for (const IndexMap &places : commonPlaces(a, b)) {
    if (!evaluateTogether(a, b, places))
      continue;
    if (areAlike(a, b, places))
      return Match{{}, places};
    if (sharesEnough(a) && addsMore(a, b, places))
      return Match{b, places};
    IndexMap back(places.size());
    for (auto [inB, inA] : llvm::enumerate(places))
      back[inA] = inB;
    if (maySplitA && sharesEnough(b) && addsMore(b, a, back))
      return Match{a, back};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Consecutive sums
//===----------------------------------------------------------------------===//

/// Returns whether `op`, or an op inside it, uses an array from `sources`.
static bool readsAny(Operation *op, llvm::function_ref<bool(Operation *)> is) {
  WalkResult walk = op->walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperands(),
                        [&](Value operand) {
                          Operation *source = operand.getDefiningOp();
                          return source && is(source);
                        })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Moves `op`, which comes later, next to `sums`. Returns false if an op in
/// between must stay there.
static bool moveTogether(ArrayRef<ComputeOp> sums, ComputeOp op) {
  Operation *last = sums.back();
  auto isSum = [&](Operation *source) {
    return llvm::is_contained(sums, source);
  };
  if (readsAny(op, isSum))
    return false;
  bool needsBetween = readsAny(op, [&](Operation *source) {
    return source->getBlock() == last->getBlock() &&
           last->isBeforeInBlock(source);
  });
  if (!needsBetween) {
    op->moveAfter(last);
    return true;
  }
  for (Operation *between = last->getNextNode(); between != op;
       between = between->getNextNode())
    if (readsAny(between, isSum))
      return false;
  for (ComputeOp sum : sums)
    sum->moveBefore(op);
  return true;
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Moves the ops of a region to another one with a different index order.
static void moveRegion(Region &from, Region &to, ArrayRef<unsigned> places) {
  if (from.empty())
    return;
  Block &source = from.front(), &target = to.front();
  target.getOperations().splice(target.end(), source.getOperations());
  for (auto [argument, place] : llvm::zip_equal(source.getArguments(), places))
    argument.replaceAllUsesWith(target.getArgument(place));
}

/// sum[r.., s..](f) becomes sum[s..](g) with g = sum[r..](f), which has the
/// parallel indices of `like` and is returned. The sum of it goes after `last`,
/// which may be `op` itself.
static ComputeOp split(ComputeOp op, ArrayRef<unsigned> places, ComputeOp like,
                       Operation *last) {
  OpBuilder builder(op);
  StringRef label = op.getLabel().value_or("");
  unsigned numParallel = like.getNumParallel();
  SmallVector<Attribute> names(places.size());
  for (auto [index, place] : llvm::enumerate(places))
    names[place] = op.getIndices()[index];
  auto part = ComputeOp::create(builder, op.getLoc(), label, names,
                                like.getExtents().getValue(), like.getLower(),
                                numParallel, Reducer::sum, op.getElementType(),
                                op.hasCondition());
  setBatch(part, batchOf(like));
  moveRegion(op.getCondition(), part.getCondition(), places);
  moveRegion(op.getBody(), part.getBody(), places);

  // The remaining indices of the part.
  SmallVector<unsigned> left;
  for (unsigned index = 0; index < places.size(); ++index)
    if (places[index] < numParallel)
      left.push_back(index);
  builder.setInsertionPointAfter(last == op ? part : last);
  ComputeOp sum = makeOver(builder, op, left, op.getNumParallel(),
                           left.size() == op.getNumParallel() ? Reducer::none
                                                              : Reducer::sum);
  bool isOnce = batchOf(op) != BatchKind::each && batchOf(op) == batchOf(part);
  setBatch(sum, isOnce ? BatchKind::once : batchOf(op));
  builder.setInsertionPointToEnd(&sum.getBody().front());
  SmallVector<Value> at(numParallel);
  for (auto [number, index] : llvm::enumerate(left))
    at[places[index]] = sum.getIndex(number);
  Value value = ReadOp::create(builder, op.getLoc(), part, at);
  YieldOp::create(builder, op.getLoc(), value);
  op.getResult().replaceAllUsesWith(sum.getResult());
  op.erase();
  return part;
}

namespace {
struct JoinSums : fovea::attn::impl::JoinSumsBase<JoinSums> {
  /// Brings `op` to `sums`, which are consecutive and before it, if it is like
  /// them or can be made so.
  bool join(SmallVector<ComputeOp> &sums, ComputeOp op) {
    ComputeOp first = sums.front();
    std::optional<Match> found = match(first, sums.size() == 1, op);
    if (!found || !moveTogether(sums, op))
      return false;
    sums.push_back(op);
    if (found->split == op)
      sums.back() = split(op, found->places, first, op);
    else if (found->split)
      sums.front() = split(first, found->places, op, op);
    return true;
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<SmallVector<ComputeOp>> groups;
      for (auto op : llvm::to_vector(program.getOps<ComputeOp>()))
        if (isCandidate(op, program) &&
            llvm::none_of(groups, [&](auto &sums) { return join(sums, op); }))
          groups.push_back({op});
    }
  }
};
} // namespace
