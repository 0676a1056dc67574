//===- GatheredProduct.cpp - convolutions are matrix products -------------===//

#include "passes/analysis/GatheredProduct.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"

using namespace mlir;
using namespace fovea::attn;

static uint64_t bitOf(unsigned index) { return uint64_t(1) << index; }

static uint64_t dependenceOf(ValueRange values) {
  uint64_t bits = 0;
  for (Value value : values)
    bits |= dependence(value);
  return bits;
}

/// Returns whether a read covers its whole array, each axis at a separate
/// index.
static bool isWhole(ReadOp read, ComputeOp op) {
  if (!read.getAlternatives().empty() || read.getOtherwise())
    return false;
  uint64_t seen = 0;
  for (auto [axis, value] : llvm::enumerate(read.getIndices())) {
    AccessIndex index = classify(value, op);
    if (index.kind != AccessIndex::Iterator || index.offset != 0 ||
        (seen & bitOf(index.iterator)) ||
        op.getExtents()[index.iterator] != read.getArrayType().getExtent(axis))
      return false;
    seen |= bitOf(index.iterator);
  }
  return true;
}

/// Returns whether runs of `read` lie along the index `run`: one axis is the
/// index, and nothing else depends on it.
static bool isRun(ReadOp read, ComputeOp op, unsigned run) {
  std::optional<unsigned> found;
  for (auto [axis, value] : llvm::enumerate(read.getIndices()))
    if (value == op.getIndex(run) && !found)
      found = axis;
    else if (dependence(value) & bitOf(run))
      return false;
  return found && numberOf(op.getExtents()[run]) &&
         read.getArrayType().getExtent(*found) == op.getExtents()[run];
}

/// The indices among `bits`, in order.
static SmallVector<unsigned> indicesIn(uint64_t bits, ComputeOp op) {
  SmallVector<unsigned> indices;
  for (unsigned index = 0; index < op.getNumIndices(); ++index)
    if (bits & bitOf(index))
      indices.push_back(index);
  return indices;
}

/// The number of places of some indices; nothing if one is a length.
static std::optional<int64_t> sizeOf(ArrayRef<unsigned> indices, ComputeOp op) {
  int64_t size = 1;
  for (unsigned index : indices) {
    auto number = numberOf(op.getExtents()[index]);
    if (!number)
      return std::nullopt;
    size *= *number;
  }
  return size;
}

std::optional<unsigned> fovea::attn::longestRun(ReadOp read, ComputeOp op,
                                                ArrayRef<unsigned> indices,
                                                uint64_t ofCondition) {
  std::optional<unsigned> run;
  int64_t longest = 1;
  for (unsigned index : indices) {
    if ((ofCondition & bitOf(index)) || !isRun(read, op, index))
      continue;
    // The last of equals, which needs no transposition.
    int64_t length = *numberOf(op.getExtents()[index]);
    if (length >= longest) {
      longest = length;
      run = index;
    }
  }
  return run;
}

/// Puts the longest run among `indices` last; false where there is none.
static bool findRun(GatheredFactors &factors, SmallVector<unsigned> &indices,
                    uint64_t ofCondition, ComputeOp op) {
  std::optional<unsigned> run =
      longestRun(factors.gathered, op, indices, ofCondition);
  if (!run)
    return false;
  factors.run = *run;
  indices.erase(llvm::find(indices, factors.run));
  indices.push_back(factors.run);
  return true;
}

static std::optional<GatheredFactors> match(ComputeOp op, ReadOp gathered,
                                            ReadOp plain) {
  if (!gathered.getAlternatives().empty() ||
      (gathered.getOtherwise() &&
       !matchPattern(gathered.getOtherwise(), m_PosZeroFloat())) ||
      !isWhole(plain, op) || !isPerExample(gathered.getArray()))
    return std::nullopt;
  GatheredFactors factors;
  factors.gathered = gathered;
  factors.plain = plain;
  factors.isOverExamples = batchOf(op) == BatchKind::sum;
  if (isPerExample(plain.getArray()) != factors.isOverExamples)
    return std::nullopt;
  uint64_t ofCondition =
      op.hasCondition()
          ? dependence(op.getCondition().front().getTerminator()->getOperand(0))
          : 0;
  uint64_t inGathered = dependenceOf(gathered.getIndices()) | ofCondition;
  uint64_t inPlain = dependenceOf(plain.getIndices());
  uint64_t parallel = bitOf(op.getNumParallel()) - 1;
  uint64_t all = bitOf(op.getNumIndices()) - 1;
  if ((inGathered | inPlain) != all ||
      (inGathered & inPlain) != (all & ~parallel))
    return std::nullopt;
  // The weights, or the gradient of the result, have one index of their own.
  SmallVector<unsigned> own = indicesIn(inPlain & parallel, op);
  SmallVector<unsigned> other = indicesIn(inGathered & parallel, op);
  factors.terms = indicesIn(all & ~parallel, op);
  if (own.size() != 1 || sizeOf(own, op).value_or(0) < leastExtent)
    return std::nullopt;
  factors.rows = other;
  factors.columns = own;
  SmallVector<unsigned> &along =
      factors.isOverExamples ? factors.rows : factors.terms;
  if (sizeOf(along, op).value_or(0) < leastExtent ||
      !findRun(factors, along, ofCondition, op))
    return std::nullopt;
  return factors;
}

std::optional<GatheredFactors> fovea::attn::gatheredFactors(ComputeOp op,
                                                            bool mayBeWhole) {
  auto program = dyn_cast<ProgramOp>(op->getParentOp());
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!program || !product || op.getReducer() != Reducer::sum ||
      !op.getElementType().isF64() || batchOf(op) == BatchKind::once ||
      op.getNumParallel() == 0 || op.getNumIndices() >= 64 || !startsAtZero(op))
    return std::nullopt;
  ReadOp reads[] = {product.getLhs().getDefiningOp<ReadOp>(),
                    product.getRhs().getDefiningOp<ReadOp>()};
  auto varies = [&](Attribute extent) { return variesInside(extent, program); };
  for (ReadOp read : reads)
    if (!read || read->getBlock() != &op.getBody().front() ||
        llvm::any_of(read.getArrayType().getShape(), varies))
      return std::nullopt;
  if (llvm::any_of(op.getExtents(), varies))
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    std::optional<GatheredFactors> found =
        match(op, reads[side], reads[1 - side]);
    if (!found)
      continue;
    // If the other factor is also read at its own indices, it is not a
    // convolution.
    bool isPlain = isWhole(reads[side], op) && !op.hasCondition();
    if (isPlain &&
        (!mayBeWhole || found->isOverExamples || found->terms.size() != 1))
      continue;
    found->left = side;
    return found;
  }
  return std::nullopt;
}

/// Whether the axes of a read are these indices, in order.
static bool standsAt(ReadOp read, ArrayRef<unsigned> indices, ComputeOp op) {
  return llvm::all_of(llvm::zip(read.getIndices(), indices), [&](auto pair) {
    return std::get<0>(pair) == op.getIndex(std::get<1>(pair));
  });
}

ProductAttr fovea::attn::gatheredProduct(ComputeOp op) {
  std::optional<GatheredFactors> factors = gatheredFactors(op);
  if (!factors)
    return {};
  SmallVector<unsigned> order = factors->rows;
  llvm::append_range(order, factors->columns);
  llvm::append_range(order, factors->terms);
  SmallVector<unsigned> ahead = {factors->columns.front()},
                        after = factors->terms;
  llvm::append_range(ahead, factors->terms);
  after.push_back(factors->columns.front());
  if (!llvm::equal(order, llvm::seq<unsigned>(0, op.getNumIndices())) ||
      factors->gathered.getIndices().back() != op.getIndex(factors->run) ||
      (!standsAt(factors->plain, after, op) &&
       (factors->isOverExamples || !standsAt(factors->plain, ahead, op))))
    return {};
  auto kind =
      factors->isOverExamples ? ProductKind::examples : ProductKind::weights;
  return ProductAttr::get(op.getContext(), kind, factors->left, {},
                          factors->rows, factors->columns, factors->terms,
                          factors->run, {}, {}, {});
}
