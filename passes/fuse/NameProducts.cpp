//===- NameProducts.cpp - which equations are matrix products -------------===//
//
// The only place that marks matrix products. It also decides what is multiplied
// at once: the rows of a batch with weights, all rows of a sum over the
// examples, or one example. The back end decides how to compute it.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/GatheredProduct.h"
#include "passes/analysis/Orders.h"
#include "passes/analysis/Product.h"
#include "passes/batch/SplitDecoder.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_NAMEPRODUCTS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// The two reads whose product is the whole body.
static bool findFactors(ComputeOp op, ReadOp (&factors)[2]) {
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  for (unsigned side : {0, 1}) {
    factors[side] = product->getOperand(side).getDefiningOp<ReadOp>();
    if (!factors[side] || !factors[side].getAlternatives().empty() ||
        factors[side].getOtherwise())
      return false;
  }
  return factors[0] != factors[1];
}

namespace {
/// Each axis of a read: an index of the op plus a number. `places` are the
/// preceding axes that depend on no index of the op.
struct Axes {
  SmallVector<AccessIndex, 1> places;
  SmallVector<unsigned> index;
  SmallVector<int64_t> offset;

  bool has(unsigned number) const { return llvm::is_contained(index, number); }
};
} // namespace

static std::optional<Axes> axesOf(ReadOp read, ComputeOp op,
                                  bool withPlaces = false) {
  Axes axes;
  for (Value value : read.getIndices()) {
    AccessIndex access = classify(value, op);
    if (withPlaces && axes.index.empty() &&
        (access.kind == AccessIndex::Constant ||
         access.kind == AccessIndex::Outer)) {
      axes.places.push_back(access);
      continue;
    }
    if (access.kind != AccessIndex::Iterator || axes.has(access.iterator))
      return std::nullopt;
    axes.index.push_back(access.iterator);
    axes.offset.push_back(access.offset);
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// The rows of a batch
//===----------------------------------------------------------------------===//

/// Returns whether the axes before the last are the same whole indices, in
/// order, of both arrays: then their places are consecutive rows.
static bool haveSameRows(ArrayRef<unsigned> a, ArrayRef<int64_t> offsets,
                         ArrayRef<unsigned> b) {
  return a.drop_back() == b.drop_back() &&
         llvm::all_of(offsets.drop_back(), [](int64_t o) { return o == 0; });
}

/// first <= index < last, from the lower bound and the condition of the op.
/// Returns false if the condition has other parts.
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

namespace {
/// Returns whether an index that depends on no index of an op stays inside an
/// axis.
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
  /// The facts that follow from lhs + slack <= rhs.
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

/// Returns whether the left side may be read at `places`: they are inside
/// wherever the op computes anything, and the row addresses depend only on the
/// example.
static bool mayStandAt(ArrayRef<AccessIndex> places, ComputeOp op, ReadOp left,
                       ReadOp right) {
  if (places.empty())
    return true;
  // An inner loop continues for examples whose own has ended.
  Operation *parent = op->getParentOp();
  bool isOuterLoop =
      isa<ScanOp>(parent) && isa<ProgramOp>(parent->getParentOp());
  if ((!isa<ProgramOp>(parent) && !isOuterLoop) ||
      !isa<ProgramOp>(right.getArray().getParentBlock()->getParentOp()))
    return false;
  if (auto data = throughViews(left.getArray()).getDefiningOp<DataOp>();
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
    if (op.hasCondition() && isConditionOfRows(op))
      for (Value part : conjunctsOf(
               op.getCondition().front().getTerminator()->getOperand(0)))
        check.addCondition(part, op);
    if (!check.isAbove || !check.isBelow)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Where rows lie
//===----------------------------------------------------------------------===//

/// The array whose memory `array` shares, through views and appended rows.
static Value memoryOf(Value array) {
  while (Operation *op = array.getDefiningOp()) {
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      array = reshape.getOperand();
    else if (auto append = dyn_cast<AppendOp>(op))
      array = append.getArray();
    else
      break;
  }
  return array;
}

static bool isPacked(Value array) {
  auto data = memoryOf(array).getDefiningOp<DataOp>();
  return !data || placeOfData(data) == DataPlace::packed;
}

/// The loop that numbers the rows of an array by the rank of their example
/// among the longest; null: by the example. An array with lengths has a place
/// for every example.
static Operation *rankedBy(Value array) {
  array = memoryOf(array);
  if (!isPerExample(array) ||
      llvm::any_of(cast<ArrayType>(array.getType()).getShape(),
                   llvm::IsaPred<StringAttr>))
    return nullptr;
  Operation *outermost = nullptr;
  for (Operation *loop = array.getParentBlock()->getParentOp();
       isa<ScanOp, SearchOp>(loop); loop = loop->getParentOp())
    outermost = loop;
  bool isRanked = outermost && outermost->getAttrOfType<StringAttr>("extent") &&
                  batchOf(outermost) == BatchKind::each;
  return isRanked ? outermost : nullptr;
}

/// Returns whether the weights exist before every loop, and the rows of the
/// left side have the result's order.
static bool canMultiplyRows(ComputeOp op, ReadOp left, ReadOp right,
                            ProductKind kind) {
  return isa<ProgramOp>(right.getArray().getParentBlock()->getParentOp()) &&
         isPacked(left.getArray()) &&
         (kind == ProductKind::place ||
          rankedBy(left.getArray()) == rankedBy(op.getResult()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A length may be long.
static bool mayBeLong(Attribute extent) {
  return numberOf(extent).value_or(leastExtent) >= leastExtent;
}

static Band rangeOf(int64_t first, int64_t last, int64_t width) {
  Band range;
  if (first != 0 || last != width)
    range = {first, last};
  return range;
}

/// Returns whether the weights are a matrix at one known place of the axes
/// before it, so that the distances between its elements are known.
static bool isMatrixAt(ReadOp read, const Axes &axes) {
  ArrayType type = read.getArrayType();
  if (axes.index.size() != 2)
    return false;
  for (auto [axis, place] : llvm::enumerate(axes.places)) {
    std::optional<int64_t> extent = numberOf(type.getExtent(axis));
    if (place.kind != AccessIndex::Constant || place.offset < 0 || !extent ||
        place.offset >= *extent)
      return false;
  }
  return (axes.places.empty() ||
          numberOf(type.getExtent(type.getRank() - 2))) &&
         numberOf(type.getExtent(type.getRank() - 1));
}

/// The rows of all examples times weights.
static ProductAttr weightsOf(ComputeOp op, ReadOp left, ReadOp right,
                             unsigned side) {
  std::optional<Axes> a = axesOf(left, op, /*withPlaces=*/true),
                      b = axesOf(right, op, /*withPlaces=*/true);
  if (!a || !b || !isMatrixAt(right, *b) || a->index.empty() ||
      isPerExample(right.getArray()) || !isPerExample(left.getArray()) ||
      op.getNumReduction() != 1)
    return {};
  unsigned term = op.getNumParallel(), column = term - 1;
  auto result = llvm::to_vector(llvm::seq<unsigned>(0, term));
  size_t numPlaces = a->places.size();
  if (a->index.back() != term || !haveSameRows(a->index, a->offset, result) ||
      left.getArrayType().getRank() != int64_t(numPlaces + term))
    return {};
  // The rows are whole in both arrays.
  for (unsigned i = 0; i < column; ++i)
    if (left.getArrayType().getExtent(numPlaces + i) != op.getExtents()[i])
      return {};
  auto width = numberOf(op.getExtents()[column]);
  auto count = numberOf(op.getExtents()[term]);
  if (!width || !count || *count < leastExtent ||
      !numberOf(left.getArrayType().getExtent(numPlaces + column)) ||
      !b->has(column) || !b->has(term))
    return {};
  int64_t first = 0, last = *width;
  if (!op.hasCondition() || !isConditionOfRows(op))
    if (!findRange(op, column, first, last))
      return {};
  auto kind = a->places.empty() ? ProductKind::weights : ProductKind::place;
  if (last - first < leastExtent || !startsAtZero(op, column) ||
      !mayStandAt(a->places, op, left, right) ||
      !canMultiplyRows(op, left, right, kind))
    return {};
  return ProductAttr::get(op.getContext(), kind, side, {},
                          ArrayRef(result).drop_back(), {column}, {term},
                          std::nullopt, rangeOf(first, last, *width), {}, {});
}

/// A sum over the examples, whose terms are consecutive.
static ProductAttr examplesOf(ComputeOp op, ReadOp left, ReadOp right,
                              unsigned side) {
  std::optional<Axes> a = axesOf(left, op), b = axesOf(right, op);
  if (!a || !b || a->index.empty() || b->index.empty() ||
      !isPerExample(left.getArray()) || !isPerExample(right.getArray()) ||
      op.getNumParallel() != 2)
    return {};
  // Rows of a length that varies inside of an example are not consecutive.
  auto program = op->getParentOfType<ProgramOp>();
  if (llvm::any_of(op.getExtents(), [&](Attribute extent) {
        return variesInside(extent, program);
      }))
    return {};
  auto terms = llvm::to_vector(llvm::seq<unsigned>(2, op.getNumIndices()));
  ArrayType leftType = left.getArrayType(), rightType = right.getArrayType();
  if (a->index.back() != 0 || b->index.back() != 1 ||
      ArrayRef(a->index).drop_back() != ArrayRef(terms) ||
      ArrayRef(b->index).drop_back() != ArrayRef(terms) ||
      !haveSameRows(a->index, a->offset, a->index) ||
      !haveSameRows(b->index, b->offset, b->index))
    return {};
  for (auto [axis, term] : llvm::enumerate(terms))
    if (leftType.getExtent(axis) != op.getExtents()[term] ||
        rightType.getExtent(axis) != op.getExtents()[term])
      return {};
  auto width = numberOf(op.getExtents()[1]);
  int64_t first = 0, last = 0;
  if (!width || !numberOf(op.getExtents()[0]) ||
      !numberOf(leftType.getExtent(terms.size())) ||
      !numberOf(rightType.getExtent(terms.size())) || !startsAtZero(op, 1) ||
      !findRange(op, 1, first, last) || last - first < leastExtent)
    return {};
  return ProductAttr::get(op.getContext(), ProductKind::examples, side, {}, {0},
                          {1}, terms, std::nullopt,
                          rangeOf(first, last, *width), {}, {});
}

//===----------------------------------------------------------------------===//
// Each example alone
//===----------------------------------------------------------------------===//

/// The conjuncts of the condition of an op, if each of them compares two of its
/// indices.
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

/// Narrows the band of `index` - `other` by a guard about these two.
static bool narrow(Band &band, const Guard &guard, unsigned index,
                   unsigned other) {
  if (guard.lhs == index && guard.rhs == other) {
    band.to = std::min(band.to.value_or(guard.offset), guard.offset);
    return true;
  }
  if (guard.lhs == other && guard.rhs == index) {
    band.from = std::max(band.from.value_or(-guard.offset), -guard.offset);
    return true;
  }
  return false;
}

/// Returns whether the value of `read` is zero wherever `guard` does not hold.
static bool isZeroOutside(ReadOp read, const Axes &axes, const Guard &guard) {
  auto source = read.getArray().getDefiningOp<ComputeOp>();
  const auto *lhs = llvm::find(axes.index, guard.lhs);
  const auto *rhs = llvm::find(axes.index, guard.rhs);
  if (!source || lhs == axes.index.end() || rhs == axes.index.end() ||
      (source.getReducer() != Reducer::none &&
       source.getReducer() != Reducer::sum &&
       source.getReducer() != Reducer::softmax))
    return false;
  return llvm::any_of(guardsOf(source), [&](const Guard &own) {
    return own.lhs == unsigned(lhs - axes.index.begin()) &&
           own.rhs == unsigned(rhs - axes.index.begin()) &&
           own.offset <= guard.offset;
  });
}

/// The number of multiply-adds below which a step's loops are as fast. A length
/// counts as 64.
static constexpr int64_t leastInLoop = 8192, usualPlaces = 64;

static int64_t sizeOf(ComputeOp op, ArrayRef<unsigned> indices) {
  int64_t size = 1;
  for (unsigned index : indices)
    size *= std::min(numberOf(op.getExtents()[index]).value_or(usualPlaces),
                     leastInLoop);
  return size;
}

/// A product of each example.
static ProductAttr exampleOf(ComputeOp op, ReadOp left, ReadOp right,
                             unsigned side) {
  // In a loop, arrays that are kept for all steps are read at one of them.
  bool isInLoop = isa<ScanOp>(op->getParentOp());
  std::optional<Axes> a = axesOf(left, op, isInLoop),
                      b = axesOf(right, op, isInLoop);
  auto isWhole = [](int64_t offset) { return offset == 0; };
  if (!a || !b || !llvm::all_of(a->offset, isWhole) ||
      !llvm::all_of(b->offset, isWhole) || !isPerExample(left.getArray()) ||
      !isPerExample(right.getArray()))
    return {};
  unsigned term = op.getNumParallel(), column = term - 1;
  if (a->has(column) || !b->has(column) || !a->has(term) || !b->has(term))
    return {};
  std::optional<unsigned> row;
  for (unsigned index = 0; index < column; ++index)
    if (a->has(index) && !b->has(index))
      row = index;
  if (!row || !llvm::all_of(ArrayRef{*row, column, term}, [&](unsigned index) {
        return mayBeLong(op.getExtents()[index]);
      }))
    return {};
  if (isInLoop && sizeOf(op, {*row, column, term}) < leastInLoop)
    return {};
  SmallVector<unsigned> batch;
  for (unsigned index = 0; index < column; ++index)
    if (index != *row)
      batch.push_back(index);
  std::optional<SmallVector<Guard>> guards = onlyGuards(op);
  if (!guards)
    return {};
  Band columns, terms;
  for (const Guard &guard : *guards)
    if (!narrow(columns, guard, column, *row) &&
        (!narrow(terms, guard, term, *row) || !isZeroOutside(left, *a, guard)))
      return {};
  return ProductAttr::get(op.getContext(), ProductKind::each, side, batch,
                          {*row}, {column}, {term}, std::nullopt, {}, columns,
                          terms);
}

/// A convolution, or its adjoint: its rows are wherever they are read.
static ProductAttr convolutionOf(ComputeOp op) {
  ProductAttr product = gatheredProduct(op);
  if (!product)
    return {};
  auto factors = op.getYielded().getDefiningOp<arith::MulFOp>();
  for (Value factor : factors->getOperands()) {
    Value array = factor.getDefiningOp<ReadOp>().getArray();
    if (!isPacked(array) ||
        !isa<ProgramOp>(array.getParentBlock()->getParentOp()))
      return {};
  }
  return product;
}

static bool mayBeOfExamples(ComputeOp op) {
  auto program = op->getParentOfType<ProgramOp>();
  bool isInLoop = isa<ScanOp>(op->getParentOp());
  return (isInLoop ? batchOf(op) == BatchKind::each
                   : isa<ProgramOp>(op->getParentOp()) &&
                         batchOf(op) != BatchKind::once) &&
         op.getNumParallel() >= 2 && op.getNumReduction() == 1 &&
         startsAtZero(op) &&
         llvm::none_of(op.getExtents(), [&](Attribute each) {
           return variesInside(each, program);
         });
}

/// Returns whether `op` has the order of a matrix product. A derivative gets
/// its order later.
static bool mayBeProduct(ComputeOp op) {
  OrderAttr order = op.getOrderAttr();
  if (!order)
    order = orderOf(op, Examples(op->getParentOfType<ProgramOp>()));
  return order.isChain() && order.getFused();
}

namespace {
struct NameProducts : fovea::attn::impl::NameProductsBase<NameProducts> {
  ProductAttr nameOf(ComputeOp op) {
    ReadOp factors[2];
    if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
        op.getNumParallel() == 0 || !mayBeProduct(op))
      return {};
    if (!findFactors(op, factors))
      return convolutionOf(op);
    for (auto match : {batchOf(op) == BatchKind::each  ? weightsOf
                       : batchOf(op) == BatchKind::sum ? examplesOf
                                                       : nullptr,
                       mayBeOfExamples(op) ? exampleOf : nullptr})
      for (unsigned side : {0, 1})
        if (match)
          if (ProductAttr found =
                  match(op, factors[side], factors[1 - side], side))
            return found;
    return convolutionOf(op);
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      program.walk([&](ComputeOp op) {
        if (ProductAttr product = nameOf(op))
          setProduct(op, product);
      });
  }
};
} // namespace
