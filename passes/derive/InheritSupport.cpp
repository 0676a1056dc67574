//===- InheritSupport.cpp - a sum skips what its weights exclude ----------===//
//
// Where a factor of a product is zero because its array's condition does not
// hold, the product adds nothing, so the sum inherits the condition. Only index
// arithmetic is inherited: other conditions would read arrays again, and bound
// nothing.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_INHERITSUPPORT
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// The reads that are factors of the whole summed value of `op`.
static SmallVector<ReadOp> factorsOf(ComputeOp op) {
  SmallVector<ReadOp> reads;
  llvm::SetVector<Value> visited;
  visited.insert(op.getYielded());
  for (unsigned i = 0; i < visited.size(); ++i) {
    Operation *def = visited[i].getDefiningOp();
    if (isa_and_nonnull<arith::MulFOp>(def)) {
      visited.insert(def->getOperand(0));
      visited.insert(def->getOperand(1));
    } else if (isa_and_nonnull<arith::DivFOp, arith::NegFOp>(def)) {
      visited.insert(def->getOperand(0));
    } else if (auto read = dyn_cast_or_null<ReadOp>(def)) {
      reads.push_back(read);
    }
  }
  return reads;
}

/// Returns whether elements excluded by the condition of `op` are zero.
static bool isZeroOutside(ComputeOp op) {
  return op.hasCondition() && op.getElementType().isF64() &&
         (op.getReducer() == Reducer::none ||
          op.getReducer() == Reducer::softmax ||
          op.getReducer() == Reducer::log_softmax ||
          op.getReducer() == Reducer::cumsum);
}

/// For each index of `weights`, the index of `op` at which `read` reads it;
/// nothing unless these are plain, distinct, and one of them is summed over.
static std::optional<SmallVector<unsigned>> indicesOf(ReadOp read,
                                                      ComputeOp op) {
  if (!read.getAlternatives().empty() || read.getOtherwise())
    return std::nullopt;
  SmallVector<unsigned> indices;
  bool isSummed = false;
  for (Value value : read.getIndices()) {
    AccessIndex index = classify(value, op);
    if (index.kind != AccessIndex::Iterator || index.offset != 0 ||
        llvm::is_contained(indices, index.iterator))
      return std::nullopt;
    indices.push_back(index.iterator);
    isSummed |= index.iterator >= op.getNumParallel();
  }
  return isSummed ? std::optional(indices) : std::nullopt;
}

/// The factor of a product that reads an array, if all others read none: they
/// are numbers everywhere, like dropout's.
static ReadOp onlyFactorOf(ComputeOp op) {
  SmallVector<ReadOp> reads = factorsOf(op);
  unsigned numReads = 0;
  op.getBody().walk([&](ReadOp) { ++numReads; });
  return reads.size() == 1 && numReads == 1 ? reads.front() : ReadOp();
}

/// The read of an array whose elements are those of another, or multiples of
/// them.
static ReadOp copyOf(ComputeOp op) {
  if (op.getReducer() != Reducer::none || op.hasCondition())
    return {};
  ReadOp read = onlyFactorOf(op);
  if (!read || !read.getAlternatives().empty() || read.getOtherwise())
    return {};
  llvm::SmallDenseSet<unsigned> seen;
  for (Value value : read.getIndices()) {
    AccessIndex index = classify(value, op);
    if (index.kind != AccessIndex::Iterator || index.offset != 0 ||
        !seen.insert(index.iterator).second)
      return {};
  }
  return read;
}

/// The conjuncts that are pure index arithmetic.
static SmallVector<Value> affineParts(Region &condition) {
  auto isArithmetic = [&](Value part) {
    llvm::SetVector<Value> visited;
    visited.insert(part);
    for (unsigned i = 0; i < visited.size(); ++i) {
      Operation *def = visited[i].getDefiningOp();
      if (!def)
        continue;
      if (def->getNumRegions() != 0 || isa<ReadOp>(def))
        return false;
      visited.insert_range(def->getOperands());
    }
    return true;
  };
  SmallVector<Value> parts;
  llvm::SetVector<Value> visited;
  visited.insert(condition.front().getTerminator()->getOperand(0));
  for (unsigned i = 0; i < visited.size(); ++i) {
    if (auto both = visited[i].getDefiningOp<arith::AndIOp>()) {
      visited.insert(both.getLhs());
      visited.insert(both.getRhs());
    } else if (isArithmetic(visited[i])) {
      parts.push_back(visited[i]);
    }
  }
  return parts;
}

/// Requires `parts`, conditions of `weights`, for the summed value of `op`.
/// `indices` maps the indices of `weights` to those of `op`.
static void require(ComputeOp op, ComputeOp weights, ArrayRef<Value> parts,
                    ArrayRef<unsigned> indices) {
  Region &region = op.getCondition();
  Value before = openCondition(op);
  OpBuilder builder = OpBuilder::atBlockEnd(&region.front());
  Conjunction all(builder, op.getLoc());
  IRMapping values;
  for (auto [argument, index] :
       llvm::zip_equal(weights.getCondition().getArguments(), indices))
    values.map(argument, region.getArgument(index));
  for (Operation &scalar : weights.getCondition().front().without_terminator())
    if (!isa<ReadOp>(scalar) && scalar.getNumRegions() == 0 &&
        llvm::all_of(scalar.getOperands(),
                     [&](Value operand) { return values.contains(operand); }))
      builder.clone(scalar, values);
  for (Value part : parts)
    all.require(values.lookup(part));
  // Index arithmetic comes first: reads of arrays may be valid only where it
  // holds.
  if (before)
    all.require(before);
  YieldOp::create(builder, op.getLoc(), all.finish());
  for (Operation &scalar :
       llvm::make_early_inc_range(llvm::reverse(region.front())))
    if (isOpTriviallyDead(&scalar))
      scalar.erase();
}

/// Returns whether `op` already requires all of `parts`: the pass is
/// idempotent.
static bool isRequired(ComputeOp op, ArrayRef<Value> parts,
                       ArrayRef<unsigned> indices) {
  if (!op.hasCondition())
    return false;
  auto isSame = [&](Value mine, Value theirs) {
    auto a = mine.getDefiningOp<arith::CmpIOp>();
    auto b = theirs.getDefiningOp<arith::CmpIOp>();
    if (!a || !b || a.getPredicate() != b.getPredicate())
      return false;
    auto weights = b->getParentOfType<ComputeOp>();
    for (unsigned i : {0, 1}) {
      AccessIndex x = classify(a->getOperand(i), op);
      AccessIndex y = classify(b->getOperand(i), weights);
      if (x.kind != y.kind || x.kind == AccessIndex::Computed ||
          x.offset != y.offset || x.length != y.length ||
          (x.kind == AccessIndex::Iterator &&
           x.iterator != indices[y.iterator]))
        return false;
    }
    return true;
  };
  SmallVector<Value> mine = affineParts(op.getCondition());
  return llvm::all_of(parts, [&](Value part) {
    return llvm::any_of(mine, [&](Value own) { return isSame(own, part); });
  });
}

namespace {
struct InheritSupport : fovea::attn::impl::InheritSupportBase<InheritSupport> {
  void runOnOperation() override {
    for (SystemOp system : getOperation().getOps<SystemOp>())
      for (ComputeOp op : system.getOps<ComputeOp>())
        if (op.getReducer() == Reducer::sum)
          inherit(op);
  }

  void inherit(ComputeOp op) {
    for (ReadOp read : factorsOf(op)) {
      auto weights = read.getArray().getDefiningOp<ComputeOp>();
      std::optional<SmallVector<unsigned>> indices = indicesOf(read, op);
      if (!indices)
        continue;
      // No array depends on itself at the same place, but IR may say so.
      llvm::SmallDenseSet<Operation *> copies;
      while (weights && copies.insert(weights).second) {
        ReadOp copied = copyOf(weights);
        if (!copied)
          break;
        SmallVector<unsigned> inner;
        for (Value value : copied.getIndices())
          inner.push_back((*indices)[classify(value, weights).iterator]);
        indices = inner;
        weights = copied.getArray().getDefiningOp<ComputeOp>();
      }
      if (!weights || weights == op || !isZeroOutside(weights))
        continue;
      SmallVector<Value> parts = affineParts(weights.getCondition());
      if (parts.empty() || isRequired(op, parts, *indices))
        continue;
      require(op, weights, parts, *indices);
    }
  }
};
} // namespace
