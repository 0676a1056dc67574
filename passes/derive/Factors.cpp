//===- Factors.cpp - the factors of a sum of a product --------------------===//

#include "passes/derive/Factors.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/Access.h"

using namespace mlir;
using namespace fovea::attn;

/// The ops in a region of `source` that `value` needs, in order.
static SetVector<Operation *> sliceOf(Value value, ComputeOp source) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *def) {
    return source->isProperAncestor(def);
  };
  (void)getBackwardSlice(value, &slice, options);
  return slice;
}

/// Returns whether `read` depends only on indices of `op`, each within its
/// axis.
static bool isPlain(ReadOp read, ComputeOp op) {
  if (!read.getAlternatives().empty() || read.getOtherwise())
    return false;
  for (auto [axis, value] : llvm::enumerate(read.getIndices())) {
    AccessIndex index = classify(value, op);
    Attribute extent = read.getArrayType().getExtent(axis);
    if (index.kind == AccessIndex::Iterator && index.offset == 0 &&
        op.getExtents()[index.iterator] == extent)
      continue;
    auto number = dyn_cast<IntegerAttr>(extent);
    if (index.kind != AccessIndex::Constant || !number || index.offset < 0 ||
        index.offset >= number.getInt())
      return false;
  }
  return true;
}

/// Returns whether a value is defined at all places of the indices that it
/// depends on.
static bool isSafe(const Part &part) {
  return llvm::all_of(sliceOf(part.value, part.source), [&](Operation *def) {
    auto read = dyn_cast<ReadOp>(def);
    return def->getNumRegions() == 0 &&
           !isa<arith::FloorDivSIOp, arith::DivSIOp, arith::RemSIOp>(def) &&
           (!read || isPlain(read, part.source));
  });
}

ReadOp Part::plainRead() const {
  auto read = value.getDefiningOp<ReadOp>();
  if (!read || !isPlain(read, source))
    return {};
  llvm::SmallDenseSet<unsigned> seen;
  for (Value at : read.getIndices()) {
    AccessIndex index = classify(at, source);
    if (index.kind != AccessIndex::Iterator ||
        !seen.insert(index.iterator).second)
      return {};
  }
  return read;
}

Value Part::cloneAt(OpBuilder &builder, ArrayRef<Value> places) const {
  ComputeOp from = source;
  IRMapping mapping;
  for (auto [number, index] : llvm::enumerate(map))
    if (Value place = places[index]) {
      mapping.map(from.getIndex(number), place);
      if (from.hasCondition())
        mapping.map(from.getCondition().getArgument(number), place);
    }
  for (Operation *def : sliceOf(value, from))
    builder.clone(*def, mapping);
  return mapping.lookup(value);
}

namespace {
class Collector {
public:
  Collector(ComputeOp op, unsigned maxFactors)
      : op(op), maxFactors(maxFactors) {}

  std::optional<FactoredSum> collect();

private:
  Part partOf(Value value, ComputeOp source, ArrayRef<unsigned> map);
  bool addFactors(const Part &product, unsigned depth);
  bool addInner(const Part &factor, unsigned depth);
  void addConditions(const Part &condition);

  ComputeOp op;
  unsigned maxFactors;
  FactoredSum sum;
  /// What the conditions say of the indices.
  SmallVector<Guard> guards;
  bool findsPlace = false;
};
} // namespace

Part Collector::partOf(Value value, ComputeOp source, ArrayRef<unsigned> map) {
  Part part = {source, value, SmallVector<unsigned>(map)};
  uint64_t own = dependence(value);
  for (auto [number, index] : llvm::enumerate(map))
    part.indices |= (own >> number & 1) << index;
  return part;
}

static Value conditionOf(ComputeOp op) {
  return op.getCondition().front().getTerminator()->getOperand(0);
}

/// Adds the parts of a condition that do not follow from others.
void Collector::addConditions(const Part &condition) {
  // They are found last first.
  SmallVector<Value> parts = conjunctsOf(condition.value);
  for (Value value : llvm::reverse(parts)) {
    SmallVector<Guard> own = guardsOf(value, condition.source);
    for (Guard &guard : own)
      guard = {condition.map[guard.lhs], condition.map[guard.rhs],
               guard.offset};
    auto compare = value.getDefiningOp<arith::CmpIOp>();
    bool isKnown =
        compare && !own.empty() && llvm::all_of(own, [&](const Guard &guard) {
          return llvm::any_of(guards, [&](const Guard &other) {
            return other.lhs == guard.lhs && other.rhs == guard.rhs &&
                   other.offset <= guard.offset;
          });
        });
    if (isKnown)
      continue;
    findsPlace |= compare && compare.getPredicate() == arith::CmpIPredicate::eq;
    sum.conditions.push_back(partOf(value, condition.source, condition.map));
    guards.append(own);
  }
}

/// Replaces a read of an outer product by its factors: each has fewer elements
/// than the array.
bool Collector::addInner(const Part &factor, unsigned depth) {
  ReadOp read = factor.plainRead();
  auto inner = read ? read.getArray().getDefiningOp<ComputeOp>() : ComputeOp();
  if (!inner || inner == op || inner.getReducer() != Reducer::none ||
      inner->getBlock() != op->getBlock() ||
      llvm::any_of(inner.getLower(), [](int64_t lower) { return lower != 0; }))
    return false;
  SmallVector<unsigned> map;
  for (Value at : read.getIndices())
    map.push_back(factor.map[classify(at, factor.source).iterator]);
  size_t first = sum.factors.size();
  if (!addFactors(partOf(inner.getYielded(), inner, map), depth + 1))
    return false;
  ArrayRef<Part> found = ArrayRef(sum.factors).drop_front(first);
  if (found.size() < 2 || llvm::any_of(found, [&](const Part &each) {
        return each.indices == factor.indices;
      }))
    return false;
  // It is 0 where its condition does not hold.
  if (inner.hasCondition()) {
    Part condition = partOf(conditionOf(inner), inner, map);
    if (!isSafe(condition) || !llvm::all_of(found, isSafe))
      return false;
    addConditions(condition);
  }
  sum.outerProducts.push_back(inner);
  return true;
}

/// The value of a branch that is 0 where its condition does not hold; else
/// null.
static Value branchOf(scf::IfOp choice) {
  if (!choice || choice.getNumResults() != 1 ||
      !matchPattern(choice.elseYield().getOperand(0), m_AnyZeroFloat()))
    return {};
  return choice.thenYield().getOperand(0);
}

/// Returns false if there are too many.
bool Collector::addFactors(const Part &product, unsigned depth) {
  SmallVector<Value> rest = {product.value};
  while (!rest.empty()) {
    Value next = rest.pop_back_val();
    Operation *def = next.getDefiningOp();
    if (isa_and_nonnull<arith::MulFOp>(def)) {
      rest.push_back(def->getOperand(1));
      rest.push_back(def->getOperand(0));
      continue;
    }
    if (isa_and_nonnull<arith::NegFOp>(def)) {
      rest.push_back(def->getOperand(0));
      sum.isNegated = !sum.isNegated;
      continue;
    }
    auto choice = dyn_cast_or_null<scf::IfOp>(def);
    if (Value branch = depth == 0 ? branchOf(choice) : Value()) {
      Part condition =
          partOf(choice.getCondition(), product.source, product.map);
      if (isSafe(condition)) {
        rest.push_back(branch);
        addConditions(condition);
        continue;
      }
    }
    Part factor = partOf(next, product.source, product.map);
    if (depth == 0)
      sum.written.push_back(factor.indices);
    FactoredSum before = sum;
    SmallVector<Guard> guardsBefore = guards;
    if (depth >= maxFactors || !addInner(factor, depth)) {
      sum = std::move(before);
      guards = std::move(guardsBefore);
      sum.factors.push_back(factor);
    }
    if (sum.factors.size() > maxFactors)
      return false;
  }
  return true;
}

std::optional<FactoredSum> Collector::collect() {
  auto map = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumIndices()));
  if (op.hasCondition())
    addConditions(partOf(conditionOf(op), op, map));
  if (!addFactors(partOf(op.getYielded(), op, map), 0) ||
      sum.factors.size() < 2 || findsPlace)
    return std::nullopt;
  // A value that is not defined everywhere stays where the conditions hold.
  for (Part &factor : sum.factors)
    if (factor.source == op && !isSafe(factor)) {
      uint64_t own = factor.indices;
      for (const Part &condition : sum.conditions)
        if (condition.indices & own)
          factor.indices |= condition.indices;
    }
  return std::move(sum);
}

std::optional<FactoredSum> fovea::attn::factorsOf(ComputeOp sum,
                                                  unsigned maxFactors) {
  if (sum.getReducer() != Reducer::sum || !sum.getElementType().isF64() ||
      sum.getNumIndices() > 32 || !equalitiesOf(sum).empty())
    return std::nullopt;
  return Collector(sum, maxFactors).collect();
}
