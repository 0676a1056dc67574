//===- TileKeys.cpp - attention of some keys at a time --------------------===//
//
// A softmax needs the maximum of all scores, and the sum of their exponentials.
// With rounded factors, both are computed over the keys so far. The partial
// weighted sums are rescaled when the maximum changes (Milakov and Gimelshein,
// 2018; Dao et al., 2022). So no row of scores is materialised, however many
// keys there are. Tiles start at the first key and have one size, so a row has
// the same bits in any batch.
//
//===----------------------------------------------------------------------===//

#include "targets/nvidia/TileKeys.h"
#include "dialect/GroupedSums.h"
#include "dialect/Precision.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/Batch.h"
#include "passes/kernels/Members.h"
#include "targets/nvidia/Groups.h"
#include "targets/nvidia/Passes.h"
#include "targets/nvidia/Target.h"

#include <cmath>

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_TILEKEYS
#include "targets/nvidia/Passes.h.inc"
} // namespace fovea::attn

/// The sums of a row in registers, and its queries.
static constexpr int64_t mostColumns = 128;
/// The size of one MMA instruction.
static constexpr int64_t termsAtOnce = 16;

/// Returns whether an op is a product with rounded factors and few places of
/// index `index`. Where the sums are stated, all machines
/// have the same results, so nothing may be approximate.
static bool hasRoundedFactors(ComputeOp op, unsigned ExampleProduct::*index) {
  std::optional<ExampleProduct> product = exampleProductOf(op);
  if (!product || !precisionOf(op) || groupedSumsOf(op))
    return false;
  auto extent = dyn_cast<IntegerAttr>(op.getExtents()[(*product).*index]);
  return extent && extent.getInt() <= mostColumns;
}

bool fovea::attn::isTileable(ComputeOp op) {
  return hasRoundedFactors(op, &ExampleProduct::k);
}

bool fovea::attn::isTileableRead(ComputeOp op) {
  return hasRoundedFactors(op, &ExampleProduct::n);
}

int64_t fovea::attn::wholeTerms(int64_t size) {
  return llvm::divideCeil(size, termsAtOnce) * termsAtOnce;
}

int64_t fovea::attn::bytesOfKeys(const Attention &attention) {
  int64_t numbers = 0;
  for (const Attention::Side &side : attention.sides)
    numbers += keysOfTile * (wholeTerms(side.size) + spareNumbers);
  return 2 * numbers;
}

Band fovea::attn::bandOf(ComputeOp pairs) {
  Band band;
  unsigned column = pairs.getNumIndices() - 1;
  if (std::optional<ExampleProduct> product = exampleProductOf(pairs))
    column = product->n;
  unsigned row = static_cast<unsigned>(sharedBy(pairs).back());
  for (const Guard &guard : guardsOf(pairs)) {
    if (guard.lhs == column && guard.rhs == row)
      band.to = std::min(band.to.value_or(guard.offset), guard.offset);
    if (guard.lhs == row && guard.rhs == column)
      band.from = std::max(band.from.value_or(-guard.offset), -guard.offset);
  }
  return band;
}

namespace {
/// Classifies the members of a kernel.
class Recogniser {
public:
  explicit Recogniser(KernelOp kernel) : kernel(kernel) {}

  std::optional<Attention> run();

private:
  bool take(ComputeOp op);
  bool takeProduct(ComputeOp op);
  bool isByPairs(ComputeOp op) const;
  bool isImplied(ComputeOp read, ComputeOp pair) const;
  void takeSide(ComputeOp op);

  KernelOp kernel;
  Attention found;
  llvm::SmallDenseSet<Operation *> pairs;
  std::vector<SmallVector<int64_t>> rolesOfSides;
};
} // namespace

/// Returns whether a member computes pairs, or a value per pair, from other
/// members at the same pair.
bool Recogniser::isByPairs(ComputeOp op) const {
  unsigned last = op.getNumIndices() - 1;
  bool isGood = op.getNumIndices() == sharedBy(op).size() + 1;
  forArrays(*op, [&](Operation *user, Value array) {
    auto source = array.getDefiningOp<ComputeOp>();
    if (!isGood || !source || source->getParentOp() != kernel)
      return;
    ReadOp read = plainRead(user, array);
    isGood = read && pairs.contains(source) &&
             read.getIndices().back() == op.getIndex(last);
  });
  return isGood;
}

/// Returns whether pairs are zero wherever a sum over them omits their terms.
bool Recogniser::isImplied(ComputeOp read, ComputeOp pair) const {
  if (!read.hasCondition())
    return true;
  ExampleProduct product = *exampleProductOf(read);
  SmallVector<Guard> known;
  for (const Guard &guard : guardsOf(pair))
    known.push_back({product.leftAxes[guard.lhs].iterator,
                     product.leftAxes[guard.rhs].iterator, guard.offset});
  return follows(read.getCondition().front().getTerminator()->getOperand(0),
                 read, known);
}

std::optional<SmallVector<int64_t>>
fovea::attn::rolesOf(ArrayRef<AccessIndex> axes, ArrayRef<int64_t> shared,
                     unsigned row, unsigned element) {
  SmallVector<int64_t> roles;
  for (const AccessIndex &axis : axes) {
    if (axis.kind == AccessIndex::Constant) {
      roles.push_back(-3 - axis.offset);
      continue;
    }
    if (axis.kind != AccessIndex::Iterator || axis.offset != 0)
      return std::nullopt;
    const auto *outer = llvm::find(shared, int64_t(axis.iterator));
    roles.push_back(axis.iterator == row       ? -1
                    : axis.iterator == element ? -2
                                               : outer - shared.begin());
  }
  return roles;
}

void Recogniser::takeSide(ComputeOp op) {
  bool isRead = found.isRead(op);
  ExampleProduct product = *exampleProductOf(op);
  std::optional<SmallVector<int64_t>> roles =
      rolesOf(product.rightAxes, sharedBy(op), isRead ? product.k : product.n,
              isRead ? product.n : product.k);
  for (auto [number, side] : llvm::enumerate(found.sides))
    if (roles && rolesOfSides[number] == *roles &&
        exampleProductOf(side.product)->right.getArray() ==
            product.right.getArray()) {
      found.sideOf[op] = number;
      return;
    }
  unsigned element = isRead ? product.n : product.k;
  found.sideOf[op] = found.sides.size();
  found.sides.push_back(
      {op, cast<IntegerAttr>(op.getExtents()[element]).getInt()});
  rolesOfSides.push_back(roles.value_or(SmallVector<int64_t>{}));
}

bool Recogniser::takeProduct(ComputeOp op) {
  ExampleProduct product = *exampleProductOf(op);
  auto isOwn = [&](ReadOp read) {
    Operation *source = read.getArray().getDefiningOp();
    return source && source->getParentOp() == kernel;
  };
  if (product.m != sharedBy(op).back() || isOwn(product.right))
    return false;
  if (!isOwn(product.left)) {
    if (!isTileable(op) || !isStrip(kernel, op) || !product.terms.isWhole())
      return false;
    found.pairs.push_back(op);
    pairs.insert(op);
    takeSide(op);
    return true;
  }
  auto pair = product.left.getArray().getDefiningOp<ComputeOp>();
  if (!pairs.contains(pair) || !isTileableRead(op) ||
      (found.weights && pair != found.weights) || !isImplied(op, pair))
    return false;
  found.reads.push_back(op);
  takeSide(op);
  return true;
}

bool Recogniser::take(ComputeOp op) {
  if (sharedBy(op).back() >= int64_t(op.getNumParallel()) || !startsAtZero(op))
    return false;
  if (exampleProductOf(op))
    return takeProduct(op);
  bool readsPairs = false;
  forArrays(*op, [&](Operation *, Value array) {
    readsPairs |= pairs.contains(array.getDefiningOp());
  });
  if (!readsPairs) {
    found.after.push_back(op);
    return true;
  }
  if (!isByPairs(op))
    return false;
  switch (op.getReducer()) {
  case Reducer::none:
    if (found.weights || !isStrip(kernel, op))
      return false;
    found.pairs.push_back(op);
    break;
  case Reducer::softmax:
    if (found.weights || !found.reads.empty() || !isStrip(kernel, op))
      return false;
    found.weights = op;
    break;
  case Reducer::logsumexp: {
    // The argument of the softmax.
    auto isSame = [](Region &a, Region &b) {
      return a.empty() == b.empty() &&
             OperationEquivalence::isRegionEquivalentTo(
                 &a, &b, OperationEquivalence::IgnoreLocations);
    };
    if (!found.weights || found.sums ||
        op.getExtents() != found.weights.getExtents() ||
        !isSame(op.getBody(), found.weights.getBody()) ||
        !isSame(op.getCondition(), found.weights.getCondition()))
      return false;
    found.sums = op;
    return true;
  }
  default:
    return false;
  }
  pairs.insert(op);
  return true;
}

std::optional<Attention> Recogniser::run() {
  if (kernel.getSchedule() != Schedule::strips)
    return std::nullopt;
  for (Operation &each : kernel.getBody().front().without_terminator()) {
    auto op = dyn_cast<ComputeOp>(each);
    if (!op || !take(op))
      return std::nullopt;
  }
  if (found.reads.empty() || bytesOfKeys(found) > mostBytesOfKeys)
    return std::nullopt;
  if (found.weights)
    return found.reads.size() == 1 ? std::optional(found) : std::nullopt;
  return found;
}

std::optional<Attention> fovea::attn::attentionIn(KernelOp kernel) {
  return Recogniser(kernel).run();
}

namespace {
struct TileKeys : fovea::attn::impl::TileKeysBase<TileKeys> {
  /// A division takes as long as ten products. Its last bit does not matter to
  /// products whose factors are rounded.
  static void multiplyByReciprocals(KernelOp kernel) {
    kernel.walk([](arith::DivFOp op) {
      FloatAttr divisor;
      if (!matchPattern(op.getRhs(), m_Constant(&divisor)))
        return;
      double reciprocal = 1 / divisor.getValueAsDouble();
      if (!std::isnormal(static_cast<float>(reciprocal)))
        return;
      OpBuilder builder(op);
      Value factor = arith::ConstantOp::create(
          builder, op.getLoc(), FloatAttr::get(op.getType(), reciprocal));
      op.replaceAllUsesWith(
          arith::MulFOp::create(builder, op.getLoc(), op.getLhs(), factor)
              .getResult());
      op.erase();
    });
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    NvidiaTargetAttr target = nvidiaTargetOf(getOperation());
    if (!target || target.getSharedBytes() == 0)
      return;
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (attentionIn(kernel)) {
        kernel.setKeys(keysOfTile);
        multiplyByReciprocals(kernel);
        decideGroups(kernel);
      }
  }
};
} // namespace
