//===- BatchedContraction.cpp - a matrix product per example --------------===//

#include "codegen/cpu/BatchedContraction.h"
#include "codegen/cpu/Contraction.h"
#include "passes/Access.h"
#include "passes/Batch.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

/// Narrower products are computed as they are written. A length may be long.
static constexpr int64_t leastExtent = 8;

static bool isLarge(Attribute extent) {
  auto number = dyn_cast<IntegerAttr>(extent);
  return !number || number.getInt() >= leastExtent;
}

bool fovea::codegen::isNested(Attribute extent, ProgramOp program) {
  auto name = dyn_cast<StringAttr>(extent);
  if (!name)
    return false;
  // Lengths stand first in a program: the search is short.
  auto lengths = program.getOps<LengthOp>();
  auto found = llvm::find_if(
      lengths, [&](LengthOp length) { return length.getLengthAttr() == name; });
  return found != lengths.end() && ((*found).getParent() || (*found).getOf());
}

/// The conjuncts of the condition of an op, when each of them compares two of
/// its indices.
static std::optional<SmallVector<Guard>> onlyGuards(ComputeOp op) {
  if (!op.hasCondition())
    return SmallVector<Guard>();
  SmallVector<Guard> guards;
  Block &block = op.getCondition().front();
  for (Value part : conjunctsOf(block.getTerminator()->getOperand(0))) {
    SmallVector<Guard> own = guardsOf(part, op);
    if (own.size() != 1 || !part.getDefiningOp<arith::CmpIOp>())
      return std::nullopt;
    guards.push_back(own.front());
  }
  return guards;
}

/// Narrows the band of `index` as seen from `other` by a guard, if it is about
/// these two.
static bool narrow(Band &band, const Guard &guard, unsigned index,
                   unsigned other) {
  std::optional<int64_t> *bound = nullptr;
  if (guard.lhs == index && guard.rhs == other)
    bound = &band.above;
  else if (guard.lhs == other && guard.rhs == index)
    bound = &band.below;
  if (!bound)
    return false;
  *bound = std::min(bound->value_or(guard.offset), guard.offset);
  return true;
}

/// Whether what `read` reads is zero wherever `guard` does not hold.
static bool isZeroOutside(ReadOp read, ArrayRef<unsigned> axes,
                          const Guard &guard) {
  auto source = read.getArray().getDefiningOp<ComputeOp>();
  auto lhs = llvm::find(axes, guard.lhs), rhs = llvm::find(axes, guard.rhs);
  if (!source || lhs == axes.end() || rhs == axes.end() ||
      (source.getReducer() != Reducer::none &&
       source.getReducer() != Reducer::softmax))
    return false;
  return llvm::any_of(guardsOf(source), [&](const Guard &own) {
    return own.lhs == unsigned(lhs - axes.begin()) &&
           own.rhs == unsigned(rhs - axes.begin()) &&
           own.offset <= guard.offset;
  });
}

/// The index of the op that each axis of a read is, none of them twice.
static bool findAxes(ReadOp read, ComputeOp op, SmallVectorImpl<unsigned> &axes,
                     uint64_t &indices) {
  if (!read || !read.getAlternatives().empty() || read.getOtherwise() ||
      !isPerExample(read.getArray()))
    return false;
  for (Value value : read.getIndices()) {
    AccessIndex access = classify(value, op);
    if (access.kind != AccessIndex::Iterator || access.offset != 0 ||
        access.iterator >= 64 || (indices >> access.iterator & 1))
      return false;
    indices |= uint64_t(1) << access.iterator;
    axes.push_back(access.iterator);
  }
  return true;
}

static std::optional<BatchedContraction> match(ComputeOp op, ReadOp left,
                                               ReadOp right) {
  BatchedContraction found;
  found.left = left;
  found.right = right;
  uint64_t inLeft = 0, inRight = 0;
  if (!findAxes(left, op, found.leftAxes, inLeft) ||
      !findAxes(right, op, found.rightAxes, inRight))
    return std::nullopt;
  auto isIn = [](uint64_t set, unsigned index) { return set >> index & 1; };
  found.n = op.getNumParallel() - 1;
  found.k = op.getNumParallel();
  if (isIn(inLeft, found.n) || !isIn(inRight, found.n) ||
      !isIn(inLeft, found.k) || !isIn(inRight, found.k))
    return std::nullopt;
  std::optional<unsigned> m;
  for (unsigned index = 0; index < found.n; ++index)
    if (isIn(inLeft, index) && !isIn(inRight, index))
      m = index;
  if (!m)
    return std::nullopt;
  found.m = *m;
  for (unsigned index = 0; index < found.n; ++index)
    if (index != found.m)
      found.outer.push_back(index);
  std::optional<SmallVector<Guard>> guards = onlyGuards(op);
  if (!guards)
    return std::nullopt;
  for (const Guard &guard : *guards) {
    if (narrow(found.columns, guard, found.n, found.m))
      continue;
    if (!narrow(found.terms, guard, found.k, found.m) ||
        !isZeroOutside(left, found.leftAxes, guard))
      return std::nullopt;
  }
  return found;
}

std::optional<BatchedContraction>
fovea::codegen::batchedContractionOf(ComputeOp op) {
  auto program = dyn_cast<ProgramOp>(op->getParentOp());
  if (!program || batchOf(op) == BatchKind::once ||
      op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
      op.getNumParallel() < 2 || op.getNumReduction() != 1 ||
      contractionOf(op) ||
      llvm::any_of(op.getLower(), [](int64_t lower) { return lower != 0; }))
    return std::nullopt;
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!product || llvm::any_of(op.getExtents(), [&](Attribute extent) {
        return isNested(extent, program);
      }))
    return std::nullopt;
  auto first = product.getLhs().getDefiningOp<ReadOp>();
  auto second = product.getRhs().getDefiningOp<ReadOp>();
  for (auto [left, right] :
       {std::pair(first, second), std::pair(second, first)})
    if (std::optional<BatchedContraction> found = match(op, left, right))
      if (llvm::all_of(
              ArrayRef({found->m, found->n, found->k}),
              [&](unsigned index) { return isLarge(op.getExtents()[index]); }))
        return found;
  return std::nullopt;
}
