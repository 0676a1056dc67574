//===- CommonFunctions.cpp - what two equations both evaluate -------------===//

#include "passes/analysis/CommonFunctions.h"
#include "mlir/IR/Matchers.h"

#include <map>

using namespace mlir;
using namespace fovea::attn;

/// The limit on compared pairs of values when matching a function's places:
/// sums may be compared in two orders.
static constexpr unsigned maxCompared = 512;

bool fovea::attn::isCostly(Operation *op) {
  if (isa<SigmoidOp, SoftplusOp>(op))
    return true;
  if (isa<math::PowFOp, math::FPowIOp>(op))
    // A square is a product.
    return !matchPattern(op->getOperand(1), m_Constant());
  return op->getDialect()->getNamespace() == "math" &&
         isa<FloatType>(op->getResult(0).getType()) &&
         !isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp,
              math::FmaOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(op);
}

bool fovea::attn::hasCostlyFunction(ComputeOp op) {
  return llvm::any_of(op.getBody().front(),
                      [](Operation &inner) { return isCostly(&inner); });
}

/// The index of `op` that a value of its body or condition is.
static std::optional<unsigned> indexOf(Value value, ComputeOp op) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != op)
    return std::nullopt;
  return argument.getArgNumber();
}

static bool haveSameBounds(ComputeOp a, unsigned inA, ComputeOp b,
                           unsigned inB) {
  return a.getExtents()[inA] == b.getExtents()[inB] &&
         a.getLower()[inA] == b.getLower()[inB];
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// Finds the index mapping under which two values are
/// equal.
class Unifier {
public:
  Unifier(ComputeOp a, ComputeOp b)
      : a(a), b(b), ofA(a.getNumIndices(), -1), ofB(b.getNumIndices(), -1) {}

  bool unify(Value inA, Value inB);
  /// Nothing while no index replaces another.
  std::optional<IndexMap> places() const;

private:
  bool unifyAll(ValueRange inA, ValueRange inB);

  ComputeOp a, b;
  SmallVector<int> ofA, ofB;
  unsigned compared = 0;
};
} // namespace

std::optional<IndexMap> Unifier::places() const {
  if (ofA.size() != ofB.size() || llvm::is_contained(ofB, -1))
    return std::nullopt;
  return IndexMap(ofB.begin(), ofB.end());
}

bool Unifier::unifyAll(ValueRange inA, ValueRange inB) {
  return llvm::all_of(llvm::zip_equal(inA, inB), [&](auto pair) {
    return unify(std::get<0>(pair), std::get<1>(pair));
  });
}

bool Unifier::unify(Value inA, Value inB) {
  if (++compared > maxCompared)
    return false;
  std::optional<unsigned> x = indexOf(inA, a), y = indexOf(inB, b);
  if (x && y) {
    if (ofA[*x] < 0 && ofB[*y] < 0 && haveSameBounds(a, *x, b, *y)) {
      ofA[*x] = static_cast<int>(*y);
      ofB[*y] = static_cast<int>(*x);
    }
    return ofA[*x] == static_cast<int>(*y);
  }
  Operation *left = inA.getDefiningOp(), *right = inB.getDefiningOp();
  if (x || y || !left || !right || left->getParentOp() != a ||
      right->getParentOp() != b)
    return inA == inB;
  if (left->getName() != right->getName() ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getResultTypes() != right->getResultTypes() ||
      left->getNumOperands() != right->getNumOperands() ||
      left->getNumRegions() != 0)
    return false;
  auto ofABefore = ofA, ofBBefore = ofB;
  if (unifyAll(left->getOperands(), right->getOperands()))
    return true;
  if (!left->hasTrait<OpTrait::IsCommutative>() || left->getNumOperands() != 2)
    return false;
  ofA = ofABefore;
  ofB = ofBBefore;
  return unify(left->getOperand(0), right->getOperand(1)) &&
         unify(left->getOperand(1), right->getOperand(0));
}

SmallVector<IndexMap> fovea::attn::commonPlaces(ComputeOp a, ComputeOp b) {
  SmallVector<IndexMap> result;
  if (a.getNumIndices() != b.getNumIndices())
    return result;
  for (Operation &left : a.getBody().front())
    for (Operation &right : b.getBody().front()) {
      if (!isCostly(&left) || left.getName() != right.getName())
        continue;
      Unifier unifier(a, b);
      if (!unifier.unify(left.getResult(0), right.getResult(0)))
        continue;
      std::optional<IndexMap> places = unifier.places();
      if (places && !llvm::is_contained(result, *places))
        result.push_back(*places);
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Equal ops
//===----------------------------------------------------------------------===//

namespace {
/// Numbers the values of bodies, equal ones alike.
class Numbering {
public:
  /// `places`: which indices those of the block are.
  void add(Block &block, ArrayRef<unsigned> places);
  unsigned of(Value value) {
    return numbers.try_emplace(value, ++last).first->second;
  }

private:
  /// The op without its position.
  using Key = std::tuple<const void *, const void *, const void *,
                         std::vector<unsigned>>;
  std::map<Key, unsigned> known;
  DenseMap<Value, unsigned> numbers;
  unsigned last = 1 << 16; // after the indices
};
} // namespace

void Numbering::add(Block &block, ArrayRef<unsigned> places) {
  for (auto [argument, place] : llvm::zip_equal(block.getArguments(), places))
    numbers[argument] = place;
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() != 1 || op.getNumRegions() != 0)
      continue;
    std::vector<unsigned> operands;
    for (Value operand : op.getOperands())
      operands.push_back(of(operand));
    if (op.hasTrait<OpTrait::IsCommutative>())
      llvm::sort(operands);
    Key key = {op.getName().getAsOpaquePointer(),
               op.getAttrDictionary().getAsOpaquePointer(),
               op.getResult(0).getType().getAsOpaquePointer(), operands};
    numbers[op.getResult(0)] = known.try_emplace(key, ++last).first->second;
  }
}

/// The indices of an equation, unchanged.
static IndexMap ownPlaces(ComputeOp op) {
  return llvm::to_vector(llvm::seq(op.getNumIndices()));
}

DenseMap<Operation *, Operation *>
fovea::attn::commonOps(ComputeOp a, ComputeOp b, ArrayRef<unsigned> places) {
  Block &left = a.getBody().front(), &right = b.getBody().front();
  Numbering numbering;
  numbering.add(left, ownPlaces(a));
  numbering.add(right, places);
  DenseMap<unsigned, Operation *> first;
  for (Operation &op : left.without_terminator())
    if (op.getNumResults() == 1)
      first.try_emplace(numbering.of(op.getResult(0)), &op);
  DenseMap<Operation *, Operation *> result;
  for (Operation &op : right.without_terminator())
    if (op.getNumResults() == 1)
      if (Operation *same = first.lookup(numbering.of(op.getResult(0))))
        result[&op] = same;
  return result;
}

static bool haveSameConditions(ComputeOp a, ComputeOp b,
                               ArrayRef<unsigned> places) {
  if (!a.hasCondition() || !b.hasCondition())
    return a.hasCondition() == b.hasCondition();
  Block &left = a.getCondition().front(), &right = b.getCondition().front();
  Numbering numbering;
  numbering.add(left, ownPlaces(a));
  numbering.add(right, places);
  return numbering.of(left.getTerminator()->getOperand(0)) ==
         numbering.of(right.getTerminator()->getOperand(0));
}

bool fovea::attn::evaluateTogether(ComputeOp a, ComputeOp b,
                                   ArrayRef<unsigned> places) {
  for (auto [inB, inA] : llvm::enumerate(places))
    if (!haveSameBounds(a, inA, b, inB))
      return false;
  if (!haveSameConditions(a, b, places))
    return false;
  return llvm::any_of(commonOps(a, b, places),
                      [](auto &pair) { return isCostly(pair.first); });
}
