//===- Contraction.cpp - equations that are matrix products ---------------===//

#include "codegen/cpu/Contraction.h"
#include "codegen/cpu/Vectorise.h"
#include "passes/Access.h"
#include "passes/Batch.h"
#include "passes/SplitDecoder.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

/// Narrower products are computed as they are written.
static constexpr int64_t leastColumns = 8, leastTerms = 8;

/// The number of an extent, or nothing for a length.
static std::optional<int64_t> numberOf(Attribute extent) {
  auto number = dyn_cast<IntegerAttr>(extent);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// The two reads of a body that is their product and nothing else.
static bool findFactors(ComputeOp op, ReadOp &first, ReadOp &second) {
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  first = product.getLhs().getDefiningOp<ReadOp>();
  second = product.getRhs().getDefiningOp<ReadOp>();
  for (ReadOp read : {first, second})
    if (!read || !read.getAlternatives().empty() || read.getOtherwise())
      return false;
  return first != second;
}

namespace {
/// Each axis of a read: an index of the op plus a number. `places` are those
/// ahead of them that depend on no index of the op.
struct Axes {
  SmallVector<AccessIndex, 1> places;
  SmallVector<int> index;
  SmallVector<int64_t> offset;
};
} // namespace

static std::optional<Axes> axesOf(ReadOp read, ComputeOp op,
                                  bool withPlaces = false) {
  Axes axes;
  uint64_t seen = 0;
  for (Value value : read.getIndices()) {
    AccessIndex access = classify(value, op);
    if (withPlaces && axes.index.empty() &&
        (access.kind == AccessIndex::Constant ||
         access.kind == AccessIndex::Outer)) {
      axes.places.push_back(access);
      continue;
    }
    if (access.kind != AccessIndex::Iterator || access.iterator >= 64 ||
        (seen >> access.iterator & 1))
      return std::nullopt;
    seen |= uint64_t(1) << access.iterator;
    axes.index.push_back(access.iterator);
    axes.offset.push_back(access.offset);
  }
  return axes;
}

/// Whether the axes before the last are the same whole indices, in order, of
/// both arrays: their places are then rows one behind the other.
static bool haveSameRows(ArrayRef<int> a, ArrayRef<int64_t> offsets,
                         ArrayRef<int> b) {
  return a.drop_back() == b.drop_back() &&
         llvm::all_of(offsets.drop_back(), [](int64_t o) { return o == 0; });
}

/// first <= index < last, from the lower bound and the condition of the op.
/// False when the condition says anything else.
static bool findRange(ComputeOp op, unsigned number, int64_t &first,
                      int64_t &last) {
  first = op.getLower()[number];
  last = *numberOf(op.getExtents()[number]);
  if (!op.hasCondition())
    return true;
  Block &block = op.getCondition().front();
  for (Value part : conjunctsOf(block.getTerminator()->getOperand(0))) {
    auto compare = part.getDefiningOp<arith::CmpIOp>();
    if (!compare || !compare.getLhs().getType().isIndex())
      return false;
    AccessIndex a = classify(compare.getLhs(), op);
    AccessIndex b = classify(compare.getRhs(), op);
    if (a.kind != AccessIndex::Iterator || a.iterator != number ||
        b.kind != AccessIndex::Constant)
      return false;
    // index + a.offset < b.offset
    int64_t bound = b.offset - a.offset;
    switch (compare.getPredicate()) {
    case arith::CmpIPredicate::slt:
      last = std::min(last, bound);
      break;
    case arith::CmpIPredicate::sle:
      last = std::min(last, bound + 1);
      break;
    case arith::CmpIPredicate::sge:
      first = std::max(first, bound);
      break;
    case arith::CmpIPredicate::sgt:
      first = std::max(first, bound + 1);
      break;
    default:
      return false;
    }
  }
  return true;
}

/// Whether a condition speaks of no index of the op: of loops around it and of
/// the lengths of the example only.
static bool isOfRows(ComputeOp op) {
  Block &block = op.getCondition().front();
  return dependence(block.getTerminator()->getOperand(0)) == 0;
}

static bool startsAtZero(ComputeOp op, unsigned except) {
  for (auto [number, lower] : llvm::enumerate(op.getLower()))
    if (number != except && lower != 0)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Places ahead of the rows
//===----------------------------------------------------------------------===//

namespace {
/// Whether an index that depends on no index of an op stands inside an axis.
struct PlaceCheck {
  AccessIndex index;
  Attribute extent;
  bool isAbove = false, isBelow = false;

  PlaceCheck(AccessIndex index, Attribute extent)
      : index(index), extent(extent) {}
  void addLoop();
  void addCondition(Value part, ComputeOp op);

private:
  bool isSame(const AccessIndex &other) const {
    return other.kind == index.kind && other.value == index.value;
  }
  /// What follows from lhs + slack <= rhs.
  void addAtMost(const AccessIndex &lhs, const AccessIndex &rhs, int64_t slack);
};
} // namespace

void PlaceCheck::addLoop() {
  isAbove = index.offset >= 0;
  std::optional<int64_t> number = numberOf(extent);
  if (index.kind == AccessIndex::Constant) {
    isBelow = number && index.offset < *number;
    return;
  }
  Attribute steps = cast<BlockArgument>(index.value)
                        .getOwner()
                        ->getParentOp()
                        ->getAttr("extent");
  std::optional<int64_t> numSteps = numberOf(steps);
  isBelow = steps == extent
                ? index.offset <= 0
                : number && numSteps && *numSteps - 1 + index.offset < *number;
}

void PlaceCheck::addAtMost(const AccessIndex &lhs, const AccessIndex &rhs,
                           int64_t slack) {
  int64_t distance = rhs.offset - lhs.offset - slack;
  if (lhs.kind == AccessIndex::Constant && isSame(rhs))
    isAbove |= index.offset >= distance;
  std::optional<int64_t> number = numberOf(extent);
  bool isLimit = number ? rhs.kind == AccessIndex::Constant
                        : rhs.kind == AccessIndex::End && rhs.length == extent;
  if (isLimit && isSame(lhs))
    isBelow |= index.offset + distance < number.value_or(0);
}

void PlaceCheck::addCondition(Value part, ComputeOp op) {
  auto compare = part.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isIndex())
    return;
  AccessIndex a = classify(compare.getLhs(), op);
  AccessIndex b = classify(compare.getRhs(), op);
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return addAtMost(a, b, 1);
  case arith::CmpIPredicate::sle:
    return addAtMost(a, b, 0);
  case arith::CmpIPredicate::sgt:
    return addAtMost(b, a, 1);
  case arith::CmpIPredicate::sge:
    return addAtMost(b, a, 0);
  case arith::CmpIPredicate::eq:
    addAtMost(a, b, 0);
    return addAtMost(b, a, 0);
  default:
    return;
  }
}

/// Whether the left side may be read at `places`: wherever the op computes
/// anything they are inside, and where its rows lie can be said of each
/// example by itself.
static bool mayStandAt(ArrayRef<AccessIndex> places, ComputeOp op, ReadOp left,
                       ReadOp right) {
  if (places.empty())
    return true;
  // An inner loop goes on for examples whose own has ended.
  Operation *parent = op->getParentOp();
  bool isOuterLoop =
      isa<ScanOp>(parent) && isa<ProgramOp>(parent->getParentOp());
  if ((!isa<ProgramOp>(parent) && !isOuterLoop) ||
      !isa<ProgramOp>(right.getArray().getParentBlock()->getParentOp()))
    return false;
  if (auto data = behindViews(left.getArray()).getDefiningOp<DataOp>();
      data && placeOfData(data) != DataPlace::packed)
    return false;
  ArrayType type = left.getArrayType();
  auto program = op->getParentOfType<ProgramOp>();
  if (llvm::any_of(type.getShape(), [&](Attribute extent) {
        return variesInside(extent, program);
      }))
    return false;
  for (auto [axis, place] : llvm::enumerate(places)) {
    PlaceCheck check(place, type.getExtent(axis));
    check.addLoop();
    if (op.hasCondition() && isOfRows(op))
      for (Value part : conjunctsOf(
               op.getCondition().front().getTerminator()->getOperand(0)))
        check.addCondition(part, op);
    if (!check.isAbove || !check.isBelow)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static std::optional<Contraction> rowsOf(ComputeOp op, ReadOp left,
                                         ReadOp right) {
  std::optional<Axes> a = axesOf(left, op, /*withPlaces=*/true),
                      b = axesOf(right, op);
  if (!a || !b || b->index.size() != 2 || a->index.empty() ||
      isPerExample(right.getArray()) || !isPerExample(left.getArray()) ||
      op.getNumReduction() != 1)
    return std::nullopt;
  unsigned numParallel = op.getNumParallel(), column = numParallel - 1;
  int term = numParallel;
  if (a->index.back() != term)
    return std::nullopt;
  SmallVector<int> result = llvm::to_vector(llvm::seq<int>(0, numParallel));
  unsigned numPlaces = a->places.size();
  if (!haveSameRows(a->index, a->offset, result) ||
      left.getArrayType().getRank() != int64_t(numPlaces + numParallel))
    return std::nullopt;
  Contraction found;
  found.kind = a->places.empty() ? Contraction::Rows : Contraction::Placed;
  found.left = left;
  found.right = right;
  // The rows are whole in both arrays.
  for (unsigned i = 0; i < column; ++i)
    if (left.getArrayType().getExtent(numPlaces + i) != op.getExtents()[i])
      return std::nullopt;
  auto width = numberOf(op.getExtents()[column]);
  auto count = numberOf(op.getExtents()[term]);
  auto leftWidth = numberOf(left.getArrayType().getExtent(numPlaces + column));
  auto rightWidth = numberOf(right.getArrayType().getExtent(1));
  if (!width || !count || !leftWidth || !rightWidth)
    return std::nullopt;
  found.width = *width;
  found.count = *count;
  found.leftWidth = *leftWidth;
  found.leftFirst = a->offset.back();
  found.hasRowCondition = op.hasCondition() && isOfRows(op);
  if (found.hasRowCondition)
    found.last = *width;
  else if (!findRange(op, column, found.first, found.last))
    return std::nullopt;
  if (b->index[0] == static_cast<int>(column) && b->index[1] == term) {
    found.rowStride = 1;
    found.columnStride = *rightWidth;
  } else if (b->index[0] == term && b->index[1] == static_cast<int>(column)) {
    found.rowStride = *rightWidth;
    found.columnStride = 1;
  } else {
    return std::nullopt;
  }
  found.rightFirst = b->offset[0] * *rightWidth + b->offset[1] +
                     found.first * found.columnStride;
  if (!startsAtZero(op, column) || !mayStandAt(a->places, op, left, right))
    return std::nullopt;
  found.places = a->places;
  return found;
}

static std::optional<Contraction> examplesOf(ComputeOp op, ReadOp left,
                                             ReadOp right) {
  std::optional<Axes> a = axesOf(left, op), b = axesOf(right, op);
  if (!a || !b || a->index.empty() || b->index.empty() ||
      !isPerExample(left.getArray()) || !isPerExample(right.getArray()) ||
      op.getNumParallel() != 2)
    return std::nullopt;
  // Rows of a length that varies inside of an example are not one behind the
  // other.
  auto program = op->getParentOfType<ProgramOp>();
  if (llvm::any_of(op.getExtents(), [&](Attribute extent) {
        return variesInside(extent, program);
      }))
    return std::nullopt;
  SmallVector<int> terms =
      llvm::to_vector(llvm::seq<int>(2, op.getNumIndices()));
  ArrayType leftType = left.getArrayType(), rightType = right.getArrayType();
  if (a->index.back() != 0 || b->index.back() != 1 ||
      ArrayRef(a->index).drop_back() != ArrayRef(terms) ||
      ArrayRef(b->index).drop_back() != ArrayRef(terms) ||
      !haveSameRows(a->index, a->offset, a->index) ||
      !haveSameRows(b->index, b->offset, b->index))
    return std::nullopt;
  for (unsigned i = 0; i < terms.size(); ++i)
    if (leftType.getExtent(i) != op.getExtents()[2 + i] ||
        rightType.getExtent(i) != op.getExtents()[2 + i])
      return std::nullopt;
  auto rows = numberOf(op.getExtents()[0]),
       width = numberOf(op.getExtents()[1]);
  auto leftWidth = numberOf(leftType.getExtent(terms.size()));
  auto rightWidth = numberOf(rightType.getExtent(terms.size()));
  if (!rows || !width || !leftWidth || !rightWidth)
    return std::nullopt;
  Contraction found;
  found.kind = Contraction::Examples;
  found.left = left;
  found.right = right;
  found.width = *width;
  found.count = *rows;
  found.leftWidth = *leftWidth;
  found.leftFirst = a->offset.back();
  found.rowStride = *rightWidth;
  found.columnStride = 1;
  if (!startsAtZero(op, 1) || !findRange(op, 1, found.first, found.last))
    return std::nullopt;
  found.rightFirst = b->offset.back() + found.first;
  return found;
}

std::optional<Contraction> fovea::codegen::contractionOf(ComputeOp op) {
  if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
      op.getNumParallel() == 0)
    return std::nullopt;
  ReadOp first, second;
  if (!findFactors(op, first, second))
    return std::nullopt;
  BatchKind kind = batchOf(op);
  for (auto [left, right] :
       {std::pair(first, second), std::pair(second, first)}) {
    std::optional<Contraction> found;
    if (kind == BatchKind::each)
      found = rowsOf(op, left, right);
    else if (kind == BatchKind::sum)
      found = examplesOf(op, left, right);
    bool isLarge =
        found && found->columns() >= leastColumns &&
        (found->kind == Contraction::Examples || found->count >= leastTerms);
    if (isLarge)
      return found;
  }
  return std::nullopt;
}
