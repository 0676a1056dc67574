//===- InheritSupport.cpp - a sum skips what its weights exclude ----------===//
//
// Where a factor of a product is zero, the product adds nothing. Where an
// addend of a score is minus infinity, its softmax is zero. Where a part of a
// conjunction is false, 'any' finds nothing. If a condition of an array or a
// branch says where, the sum, softmax or 'any' inherits it. Only index
// arithmetic is inherited: other conditions would read arrays again, and bound
// nothing.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_INHERITSUPPORT
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {
/// A condition of `from` without which an element counts for nothing.
struct Requirement {
  Value condition;
  bool holds; // or: fails
  ComputeOp from;
  /// For each index of `from`, the index of the sum at which it is read.
  SmallVector<unsigned> indices;
};

/// Finds what the terms of a sum or a softmax need in order to count.
class Support {
public:
  explicit Support(ComputeOp op)
      : op(op), numParallel(op.getNumParallel()),
        ofScores(op.getReducer() == Reducer::softmax),
        ofBits(op.getReducer() == Reducer::any) {}

  SmallVector<Requirement> find();

private:
  void findIn(ComputeOp from, ArrayRef<unsigned> indices);
  void findAt(Value leaf, ComputeOp from, ArrayRef<unsigned> indices);
  void read(ReadOp read, ComputeOp from, ArrayRef<unsigned> indices);
  void add(Value condition, bool holds, ComputeOp from,
           ArrayRef<unsigned> indices);
  SmallVector<Value> leavesOf(Value value) const;
  bool isOfTerm(Value condition, ArrayRef<unsigned> indices) const;
  bool isExcluding(Value value) const;

  ComputeOp op;
  unsigned numParallel;
  bool ofScores, ofBits;
  SmallVector<Requirement> parts;
  // No array depends on itself at the same place, but IR may say so.
  llvm::SmallDenseSet<Operation *> visited;
};
} // namespace

/// The factors of `value`, the addends of a score, or the conjuncts of a bit.
/// Any of them decides alone.
SmallVector<Value> Support::leavesOf(Value value) const {
  if (ofBits)
    return conjunctsOf(value);
  SmallVector<Value> leaves;
  llvm::SetVector<Value> inner;
  inner.insert(value);
  for (unsigned i = 0; i < inner.size(); ++i) {
    Operation *def = inner[i].getDefiningOp();
    if (ofScores ? isa_and_nonnull<arith::AddFOp>(def)
                 : isa_and_nonnull<arith::MulFOp>(def))
      inner.insert_range(def->getOperands());
    else if (ofScores ? isa_and_nonnull<arith::SubFOp>(def)
                      : isa_and_nonnull<arith::DivFOp, arith::NegFOp>(def))
      inner.insert(def->getOperand(0));
    else
      leaves.push_back(inner[i]);
  }
  return leaves;
}

/// Returns whether a term with this factor, or this addend of its score, counts
/// for nothing.
bool Support::isExcluding(Value value) const {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return false;
  return ofScores ? number.isInfinity() && number.isNegative()
                  : number.isZero();
}

/// Returns whether elements excluded by the condition of `op` are zero.
static bool isZeroOutside(ComputeOp op) {
  return op.hasCondition() && op.getElementType().isF64() &&
         (op.getReducer() == Reducer::none ||
          op.getReducer() == Reducer::softmax ||
          op.getReducer() == Reducer::log_softmax ||
          op.getReducer() == Reducer::cumsum);
}

/// The ops that compute `value` inside its compute, in order; nothing if one
/// reads an array or has branches.
static std::optional<SmallVector<Operation *>> arithmeticOf(Value value) {
  llvm::SetVector<Operation *> ops;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *def = open.pop_back_val().getDefiningOp();
    if (!def || !ops.insert(def))
      continue;
    if (def->getNumRegions() != 0 || isa<ReadOp>(def))
      return std::nullopt;
    llvm::append_range(open, def->getOperands());
  }
  return llvm::to_vector(topologicalSort(ops));
}

/// Returns whether computing `value` reads no array: it is a number everywhere,
/// like dropout's factor.
static bool readsNothing(Value value) {
  return arithmeticOf(value).has_value();
}

SmallVector<Requirement> Support::find() {
  findIn(op, llvm::to_vector(llvm::seq(op.getNumIndices())));
  return parts;
}

/// `indices`: of `op`, for each one of `from`.
void Support::findIn(ComputeOp from, ArrayRef<unsigned> indices) {
  if (!visited.insert(from).second)
    return;
  SmallVector<Value> leaves = leavesOf(from.getYielded());
  for (Value leaf : leaves) {
    // The element of another array is zero only if no other factor can be
    // without a value there.
    bool isAlone = from == op || ofScores || ofBits ||
                   llvm::all_of(leaves, [&](Value other) {
                     return other == leaf || readsNothing(other);
                   });
    if (isAlone)
      findAt(leaf, from, indices);
  }
}

void Support::findAt(Value leaf, ComputeOp from, ArrayRef<unsigned> indices) {
  Value condition, whenTrue, whenFalse;
  Operation *def = leaf.getDefiningOp();
  if (auto found = dyn_cast_or_null<ReadOp>(def))
    return read(found, from, indices);
  if (ofBits) {
    if (isOfTerm(leaf, indices))
      add(leaf, true, from, indices);
    return;
  }
  if (auto choose = dyn_cast_or_null<arith::SelectOp>(def)) {
    condition = choose.getCondition();
    whenTrue = choose.getTrueValue();
    whenFalse = choose.getFalseValue();
  } else if (auto branch = dyn_cast_or_null<scf::IfOp>(def)) {
    unsigned i = cast<OpResult>(leaf).getResultNumber();
    condition = branch.getCondition();
    whenTrue = branch.thenYield().getOperand(i);
    whenFalse = branch.elseYield().getOperand(i);
  } else {
    return;
  }
  if (isExcluding(whenFalse)) {
    for (Value part : llvm::reverse(conjunctsOf(condition)))
      if (isOfTerm(part, indices))
        add(part, true, from, indices);
    findAt(whenTrue, from, indices);
  } else if (isExcluding(whenTrue)) {
    if (isOfTerm(condition, indices))
      add(condition, false, from, indices);
    findAt(whenFalse, from, indices);
  }
}

/// Returns whether `condition` depends on an index that is summed over.
bool Support::isOfTerm(Value condition, ArrayRef<unsigned> indices) const {
  auto isSummed = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && indices[argument.getArgNumber()] >= numParallel;
  };
  std::optional<SmallVector<Operation *>> ops = arithmeticOf(condition);
  return ops && llvm::any_of(*ops, [&](Operation *scalar) {
           return llvm::any_of(scalar->getOperands(), isSummed);
         });
}

/// A read at distinct plain indices that include one of the sum.
void Support::read(ReadOp read, ComputeOp from, ArrayRef<unsigned> indices) {
  auto source = read.getArray().getDefiningOp<ComputeOp>();
  if (!source || !read.getAlternatives().empty() || read.getOtherwise())
    return;
  SmallVector<unsigned> inner;
  bool isSummed = false;
  for (Value value : read.getIndices()) {
    AccessIndex index = classify(value, from);
    if (index.kind != AccessIndex::Iterator || index.offset != 0 ||
        llvm::is_contained(inner, indices[index.iterator]))
      return;
    inner.push_back(indices[index.iterator]);
    isSummed |= inner.back() >= numParallel;
  }
  if (!isSummed)
    return;
  if (!ofScores && !ofBits && isZeroOutside(source)) {
    Value condition =
        source.getCondition().front().getTerminator()->getOperand(0);
    for (Value part : llvm::reverse(conjunctsOf(condition)))
      add(part, true, source, inner);
  }
  // Outside its condition an array is 0, which excludes no score.
  if (source.getReducer() == Reducer::none &&
      (!ofScores || !source.hasCondition()))
    findIn(source, inner);
}

void Support::add(Value condition, bool holds, ComputeOp from,
                  ArrayRef<unsigned> indices) {
  if (arithmeticOf(condition))
    parts.push_back({condition, holds, from, SmallVector<unsigned>(indices)});
}

/// Adds `parts` to the condition of `op`.
static void require(ComputeOp op, ArrayRef<Requirement> parts) {
  Region &region = op.getCondition();
  Value before = openCondition(op);
  OpBuilder builder = OpBuilder::atBlockEnd(&region.front());
  Location loc = op.getLoc();
  Conjunction all(builder, loc);
  for (const Requirement &part : parts) {
    IRMapping values;
    ComputeOp from = part.from;
    for (Region *source : {&from.getCondition(), &from.getBody()})
      if (!source->empty())
        for (auto [argument, index] :
             llvm::zip(source->getArguments(), part.indices))
          values.map(argument, region.getArgument(index));
    auto ops = arithmeticOf(part.condition);
    for (Operation *scalar : *ops)
      builder.clone(*scalar, values);
    Value condition = values.lookup(part.condition);
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (!part.holds && compare)
      compare.setPredicate(arith::invertPredicate(compare.getPredicate()));
    else if (!part.holds)
      condition = arith::XOrIOp::create(
          builder, loc, condition,
          arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    all.require(condition);
  }
  // Index arithmetic comes first: reads of arrays may be valid only where it
  // holds.
  if (before)
    all.require(before);
  YieldOp::create(builder, loc, all.finish());
}

/// Returns whether `mine`, a value of a sum, is `theirs` at `indices`.
static bool isSame(Value mine, Value theirs, ArrayRef<unsigned> indices) {
  llvm::SetVector<std::pair<Value, Value>> pairs;
  pairs.insert({mine, theirs});
  for (unsigned i = 0; i < pairs.size(); ++i) {
    auto [x, y] = pairs[i];
    auto own = dyn_cast<BlockArgument>(x),
         argument = dyn_cast<BlockArgument>(y);
    if (own || argument) {
      if (!own || !argument ||
          own.getArgNumber() != indices[argument.getArgNumber()])
        return false;
      continue;
    }
    Operation *a = x.getDefiningOp(), *b = y.getDefiningOp();
    if (a->getName() != b->getName() ||
        a->getAttrDictionary() != b->getAttrDictionary() ||
        a->getNumRegions() != 0 || isa<ReadOp>(a) ||
        a->getNumOperands() != b->getNumOperands())
      return false;
    for (auto operands : llvm::zip(a->getOperands(), b->getOperands()))
      pairs.insert({std::get<0>(operands), std::get<1>(operands)});
  }
  return true;
}

/// Returns whether `op` already requires `part`: the pass is idempotent.
static bool isRequired(ComputeOp op, const Requirement &part) {
  if (!op.hasCondition())
    return false;
  Value condition = op.getCondition().front().getTerminator()->getOperand(0);
  return llvm::any_of(conjunctsOf(condition), [&](Value own) {
    if (part.holds)
      return isSame(own, part.condition, part.indices);
    auto a = own.getDefiningOp<arith::CmpIOp>(),
         b = part.condition.getDefiningOp<arith::CmpIOp>();
    if (a && b)
      return arith::invertPredicate(a.getPredicate()) == b.getPredicate() &&
             isSame(a.getLhs(), b.getLhs(), part.indices) &&
             isSame(a.getRhs(), b.getRhs(), part.indices);
    auto flip = own.getDefiningOp<arith::XOrIOp>();
    return flip && isSame(flip.getLhs(), part.condition, part.indices);
  });
}

namespace {
struct InheritSupport : fovea::attn::impl::InheritSupportBase<InheritSupport> {
  void runOnOperation() override {
    // A sum inherits what its softmax has inherited.
    for (SystemOp system : getOperation().getOps<SystemOp>())
      for (Reducer reducer : {Reducer::any, Reducer::softmax, Reducer::sum})
        for (ComputeOp op : system.getOps<ComputeOp>())
          if (op.getReducer() == reducer)
            inherit(op);
  }

  void inherit(ComputeOp op) {
    SmallVector<Requirement> parts = Support(op).find();
    llvm::erase_if(
        parts, [&](const Requirement &part) { return isRequired(op, part); });
    if (!parts.empty())
      require(op, parts);
  }
};
} // namespace
