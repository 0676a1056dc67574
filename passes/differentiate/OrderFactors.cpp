//===- OrderFactors.cpp - sums of several factors, pair by pair -----------===//
//
// Finds the order of pairwise sums in which a sum of a product of several
// factors costs least, by dynamic programming over the sets of factors, and
// writes each step as an equation. Sizes are those of the program alone, so the
// order is the same in every batch and on every machine. Which of the steps are
// matrix products is said later.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

namespace fovea::attn {
#define GEN_PASS_DEF_ORDERFACTORS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// The dynamic programme looks at 3^n pairs of sets.
static constexpr unsigned maxFactors = 7;
/// What a length counts as, where a size has to be a number.
static constexpr double usualLength = 64;
/// Elements of one example that an intermediate may have.
static constexpr double maxElements = 1 << 20;
/// Below, nothing is computed as a matrix product.
static constexpr double leastExtent = 8;
/// A multiply-add of a loop costs as much as this many of a matrix product, and
/// as an element that is written and read again.
static constexpr double loopCost = 4;
/// Another order has to be cheaper by this factor.
static constexpr double leastGain = 2;

/// A set of indices of an op, or of factors.
using Bits = uint64_t;

namespace {

/// A value of the body of `source`, whose index i is index `map[i]` of the sum.
struct Factor {
  ComputeOp source;
  Value value;
  SmallVector<unsigned> map;
  Bits indices = 0;

  /// The read of an array at indices of the sum that is all of it, or null.
  ReadOp plainRead() const;
};

/// What has to hold where the sum adds anything: a value of a region of
/// `source`, as of a factor.
struct Condition {
  ComputeOp source;
  Value value;
  SmallVector<unsigned> map;
  Bits indices = 0;
};

/// A sum of a product, as its factors, and the best order found.
class Network {
public:
  Network(ComputeOp op, SystemOp system)
      : op(op), system(system), numParallel(op.getNumParallel()) {}

  /// False where the op is no sum of a product that could have an order.
  bool collect();
  /// False where no order is clearly cheaper than the sum as it is written.
  bool findOrder();
  /// Writes the equations of the order in place of `op`.
  void write();

  /// The equations whose factors stand in their place, inner ones first.
  SmallVector<ComputeOp> outerProducts;

private:
  /// What a set of factors has become: an array over `axes`, or a factor.
  struct Operand {
    const Factor *factor = nullptr;
    Value array;
    SmallVector<unsigned> axes;
  };

  bool addFactors(Value value, ComputeOp source, ArrayRef<unsigned> map,
                  SmallVectorImpl<Factor> &into, unsigned depth);
  bool addInner(ReadOp read, const Factor &factor,
                SmallVectorImpl<Factor> &into, unsigned depth);
  void addConditions(Value value, ComputeOp source, ArrayRef<unsigned> map);

  double volume(Bits indices) const;
  /// All indices of a set of factors.
  Bits allOf(Bits set) const;
  /// Those that are still there when the set has been multiplied and summed.
  Bits openOf(Bits set) const;
  bool isWhole(Bits set) const { return set == last(); }
  Bits last() const { return (Bits(1) << factors.size()) - 1; }
  bool isLeaf(Bits set) const { return llvm::has_single_bit(set); }
  /// Whether the set becomes an array by itself.
  bool isArray(Bits set) const {
    return !isLeaf(set) || openOf(set) != allOf(set);
  }
  bool isLargeProduct(Bits a, Bits b, Bits open) const;
  bool isProduct(Bits left, Bits right) const;
  bool isWeights(Bits set) const;
  double writtenCost() const;
  double costOf(Bits left, Bits right) const;

  Operand writeSet(OpBuilder &builder, Bits set);
  Operand writeArray(OpBuilder &builder, const Operand &operand, Bits set);
  Operand writeStep(OpBuilder &builder, Bits set, ArrayRef<Operand> operands);
  Value valueOf(OpBuilder &builder, const Operand &operand, ComputeOp step,
                ArrayRef<unsigned> indices);
  SmallVector<unsigned> orderOf(Bits set, Bits left, Bits right) const;

  ComputeOp op;
  SystemOp system;
  unsigned numParallel;
  SmallVector<Factor> factors;
  SmallVector<Condition> conditions;
  /// What these say of the indices.
  SmallVector<Guard> guards;
  bool isNegated = false;
  /// The indices of each factor as the sum is written.
  SmallVector<Bits> written;
  SmallVector<double> sizes;
  Bits reduced = 0;
  /// Of each set of factors: what it costs, and the part that is its left side.
  SmallVector<double> cost;
  SmallVector<Bits> split;
};

} // namespace

static void forBits(Bits bits, llvm::function_ref<void(unsigned)> visit) {
  for (; bits; bits &= bits - 1)
    visit(llvm::countr_zero(bits));
}

/// What `value` needs of a region of `source`, in order.
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

//===----------------------------------------------------------------------===//
// The factors of a sum
//===----------------------------------------------------------------------===//

/// Whether `read` finds an element of its array at indices of `op` alone, each
/// of which is within its axis.
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

ReadOp Factor::plainRead() const {
  auto read = value.getDefiningOp<ReadOp>();
  Bits seen = 0;
  bool isRead = read && isPlain(read, source) &&
                llvm::all_of(read.getIndices(), [&](Value at) {
                  AccessIndex index = classify(at, source);
                  Bits bit = Bits(1) << index.iterator;
                  bool isNew = !(seen & bit);
                  seen |= bit;
                  return index.kind == AccessIndex::Iterator && isNew;
                });
  return isRead ? read : ReadOp();
}

/// Whether a value may be evaluated at all places of the indices that it
/// depends on.
static bool isSafe(Value value, ComputeOp source) {
  return llvm::all_of(sliceOf(value, source), [&](Operation *def) {
    auto read = dyn_cast<ReadOp>(def);
    return def->getNumRegions() == 0 &&
           !isa<arith::FloorDivSIOp, arith::DivSIOp, arith::RemSIOp>(def) &&
           (!read || isPlain(read, source));
  });
}

/// What a branch gives that gives 0 where its condition, which may be asked
/// anywhere, does not hold; else null.
static Value branchOf(Operation *def, ComputeOp source) {
  auto choice = dyn_cast_or_null<scf::IfOp>(def);
  if (!choice || choice.getNumResults() != 1 ||
      !matchPattern(choice.elseYield().getOperand(0), m_AnyZeroFloat()) ||
      !isSafe(choice.getCondition(), source))
    return {};
  return choice.thenYield().getOperand(0);
}

/// Takes the factors of an outer product in place of a read of it: they have
/// less elements than the array.
bool Network::addInner(ReadOp read, const Factor &factor,
                       SmallVectorImpl<Factor> &into, unsigned depth) {
  auto inner = read.getArray().getDefiningOp<ComputeOp>();
  if (!inner || inner == op || inner.getReducer() != Reducer::none ||
      inner->getBlock() != op->getBlock() || !factor.plainRead() ||
      llvm::any_of(inner.getLower(), [](int64_t lower) { return lower != 0; }))
    return false;
  SmallVector<unsigned> map;
  for (Value at : read.getIndices())
    map.push_back(factor.map[classify(at, factor.source).iterator]);
  SmallVector<Factor> found;
  if (!addFactors(inner.getYielded(), inner, map, found, depth + 1) ||
      found.size() < 2 || llvm::any_of(found, [&](const Factor &each) {
        return each.indices == factor.indices;
      }))
    return false;
  // It is 0 where its condition does not hold.
  if (inner.hasCondition()) {
    Value holds = inner.getCondition().front().getTerminator()->getOperand(0);
    if (!isSafe(holds, inner) || !llvm::all_of(found, [&](const Factor &each) {
          return isSafe(each.value, each.source);
        }))
      return false;
    addConditions(holds, inner, map);
  }
  into.append(found.begin(), found.end());
  outerProducts.push_back(inner);
  return true;
}

/// Adds the parts of a condition that do not follow from others.
void Network::addConditions(Value value, ComputeOp source,
                            ArrayRef<unsigned> map) {
  // They are found last first.
  SmallVector<Value> parts = conjunctsOf(value);
  for (Value part : llvm::reverse(parts)) {
    SmallVector<Guard> own = guardsOf(part, source);
    for (Guard &guard : own)
      guard = {map[guard.lhs], map[guard.rhs], guard.offset};
    bool isKnown = !own.empty() && part.getDefiningOp<arith::CmpIOp>() &&
                   llvm::all_of(own, [&](const Guard &guard) {
                     return llvm::any_of(guards, [&](const Guard &other) {
                       return other.lhs == guard.lhs &&
                              other.rhs == guard.rhs &&
                              other.offset <= guard.offset;
                     });
                   });
    if (isKnown)
      continue;
    Condition condition = {source, part, SmallVector<unsigned>(map)};
    forBits(dependence(part), [&](unsigned index) {
      condition.indices |= Bits(1) << map[index];
    });
    conditions.push_back(condition);
    guards.append(own);
  }
}

bool Network::addFactors(Value value, ComputeOp source, ArrayRef<unsigned> map,
                         SmallVectorImpl<Factor> &into, unsigned depth) {
  bool wasNegated = isNegated;
  SmallVector<Value> rest = {value};
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
      isNegated = !isNegated;
      continue;
    }
    if (Value branch = depth == 0 ? branchOf(def, source) : Value()) {
      rest.push_back(branch);
      addConditions(cast<scf::IfOp>(def).getCondition(), source, map);
      continue;
    }
    Factor factor = {source, next, SmallVector<unsigned>(map)};
    forBits(dependence(next),
            [&](unsigned index) { factor.indices |= Bits(1) << map[index]; });
    if (depth == 0)
      written.push_back(factor.indices);
    auto read = next.getDefiningOp<ReadOp>();
    if (!read || depth >= maxFactors || !addInner(read, factor, into, depth))
      into.push_back(factor);
    if (into.size() > maxFactors) {
      isNegated = wasNegated;
      return false;
    }
  }
  return true;
}

bool Network::collect() {
  if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
      op.getNumIndices() > 32 || !equalitiesOf(op).empty() ||
      llvm::any_of(op.getExtents(), [&](Attribute extent) {
        return variesInside(extent, system);
      }))
    return false;
  auto map = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumIndices()));
  if (op.hasCondition())
    addConditions(op.getCondition().front().getTerminator()->getOperand(0), op,
                  map);
  if (!addFactors(op.getYielded(), op, map, factors, 0) || factors.size() < 2)
    return false;
  for (Attribute extent : op.getExtents()) {
    auto number = dyn_cast<IntegerAttr>(extent);
    sizes.push_back(number ? double(number.getInt()) : usualLength);
  }
  for (unsigned i = numParallel; i < op.getNumIndices(); ++i)
    reduced |= Bits(1) << i;
  // What may not be evaluated anywhere stays where the condition holds.
  for (Factor &factor : factors)
    if (factor.source == op && !isSafe(factor.value, op)) {
      Bits own = factor.indices;
      for (const Condition &condition : conditions)
        if (condition.indices & own)
          factor.indices |= condition.indices;
    }
  // Where no factor of two is a sum itself, there is nothing to choose.
  return (allOf(last()) & reduced) == reduced &&
         (factors.size() > 2 ||
          llvm::any_of(llvm::seq<unsigned>(0, 2),
                       [&](unsigned i) { return isArray(Bits(1) << i); }));
}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

double Network::volume(Bits indices) const {
  double elements = 1;
  forBits(indices, [&](unsigned index) { elements *= sizes[index]; });
  return elements;
}

Bits Network::allOf(Bits set) const {
  Bits all = 0;
  forBits(set, [&](unsigned i) { all |= factors[i].indices; });
  return all;
}

Bits Network::openOf(Bits set) const {
  Bits all = allOf(set), open = all & ~reduced;
  open |= all & allOf(last() & ~set);
  // A condition holds an index back until all of its indices have met.
  for (const Condition &condition : conditions)
    if (condition.indices & ~all)
      open |= condition.indices & all;
  return open;
}

/// Whether a set of factors is one that the whole batch has once.
bool Network::isWeights(Bits set) const {
  ReadOp read =
      isLeaf(set) ? factors[llvm::countr_zero(set)].plainRead() : ReadOp();
  return read && behindViews(read.getArray()).getDefiningOp<ParamOp>();
}

/// Whether the sum of the product of arrays over `a` and `b` that leaves `open`
/// is of the size of a matrix product: what is summed up belongs to both, and
/// rows and columns to one each.
bool Network::isLargeProduct(Bits a, Bits b, Bits open) const {
  Bits terms = (a | b) & ~open;
  return terms == (a & b & ~open) && volume(terms) >= leastExtent &&
         volume(open & a & ~b) >= leastExtent &&
         volume(open & b & ~a) >= leastExtent;
}

/// Whether the product of two sets of factors will be a matrix product. Its
/// columns are the last index of the result; weights have one index of them,
/// products of an example one of the terms.
bool Network::isProduct(Bits left, Bits right) const {
  Bits a = openOf(left), b = openOf(right), open = openOf(left | right);
  bool hasColumns = !isWhole(left | right) || numParallel == 0 ||
                    !((a & b) >> (numParallel - 1) & 1);
  if (!hasColumns || !isLargeProduct(a, b, open))
    return false;
  if (isWeights(left))
    return llvm::has_single_bit(open & a & ~b);
  if (isWeights(right))
    return llvm::has_single_bit(open & b & ~a);
  return llvm::has_single_bit((a | b) & ~open);
}

double Network::writtenCost() const {
  Bits kept = (Bits(1) << numParallel) - 1;
  double elements = volume(kept | allOf(last()));
  if (written.size() == 2 && isLargeProduct(written[0], written[1], kept))
    return elements;
  return elements * std::max<size_t>(1, written.size() - 1) * loopCost;
}

double Network::costOf(Bits left, Bits right) const {
  Bits set = left | right;
  double elements = volume(openOf(left) | openOf(right));
  double result = isProduct(left, right) ? elements : loopCost * elements;
  if (!isWhole(set))
    result += loopCost * volume(openOf(set));
  return result;
}

bool Network::findOrder() {
  constexpr double never = std::numeric_limits<double>::infinity();
  double limit = maxElements;
  for (const Factor &factor : factors)
    limit = std::max(limit, volume(factor.indices));
  cost.assign(last() + 1, never);
  split.assign(last() + 1, 0);
  for (Bits set = 1; set <= last(); ++set) {
    if (isLeaf(set)) {
      bool isSum = isArray(set);
      cost[set] = isSum ? loopCost * volume(allOf(set)) : 0;
      continue;
    }
    if (!isWhole(set) && volume(openOf(set)) > limit)
      continue;
    // Each pair once: the left side has the first factor of the set.
    Bits first = set & -set;
    for (Bits left = (set - 1) & set; left; left = (left - 1) & set) {
      if (!(left & first))
        continue;
      double found = cost[left] + cost[set & ~left] + costOf(left, set & ~left);
      if (found < cost[set]) {
        cost[set] = found;
        split[set] = left;
      }
    }
  }
  return cost[last()] * leastGain <= writtenCost();
}

//===----------------------------------------------------------------------===//
// The equations
//===----------------------------------------------------------------------===//

/// Clones what `value` needs to the end of `builder`'s block.
static Value cloneValue(OpBuilder &builder, Value value, ComputeOp source,
                        IRMapping &mapping) {
  for (Operation *def : sliceOf(value, source))
    if (!mapping.contains(def->getResult(0)))
      builder.clone(*def, mapping);
  return mapping.lookup(value);
}

Value Network::valueOf(OpBuilder &builder, const Operand &operand,
                       ComputeOp step, ArrayRef<unsigned> indices) {
  auto argument = [&](unsigned index) -> Value {
    return step.getIndex(llvm::find(indices, index) - indices.begin());
  };
  if (!operand.factor) {
    SmallVector<Value> at = llvm::map_to_vector(operand.axes, argument);
    return ReadOp::create(builder, op.getLoc(), operand.array, at);
  }
  const Factor &factor = *operand.factor;
  ComputeOp source = factor.source;
  IRMapping mapping;
  for (unsigned i = 0; i < source.getNumIndices(); ++i)
    if (llvm::is_contained(indices, factor.map[i]))
      mapping.map(source.getIndex(i), argument(factor.map[i]));
  return cloneValue(builder, factor.value, source, mapping);
}

/// The indices of a result: those of the sum's first, as they stand, then what
/// is summed up later. The last one belongs to one side alone, if any does: it
/// is the columns of a product.
SmallVector<unsigned> Network::orderOf(Bits set, Bits left, Bits right) const {
  SmallVector<unsigned> order;
  forBits(openOf(set), [&](unsigned index) { order.push_back(index); });
  Bits shared = openOf(left) & openOf(right);
  for (size_t place = order.size(); place-- > 0;)
    if (!(shared >> order[place] & 1)) {
      std::rotate(order.begin() + place, order.begin() + place + 1,
                  order.end());
      break;
    }
  return order;
}

/// One equation: the product of `operands`, summed over what is not open in
/// `set`. Where a later step has all indices of a condition once more, it says
/// so again: what does not hold is not looked at.
Network::Operand Network::writeStep(OpBuilder &builder, Bits set,
                                    ArrayRef<Operand> operands) {
  Bits all = 0;
  for (const Operand &operand : operands)
    if (operand.factor)
      all |= operand.factor->indices;
    else
      for (unsigned axis : operand.axes)
        all |= Bits(1) << axis;
  SmallVector<unsigned> indices;
  if (isWhole(set))
    indices = llvm::to_vector(llvm::seq<unsigned>(0, numParallel));
  else if (isLeaf(set))
    indices = orderOf(set, set, 0);
  else
    indices = orderOf(set, split[set], set & ~split[set]);
  unsigned numOpen = indices.size();
  forBits(all & ~openOf(set), [&](unsigned i) { indices.push_back(i); });
  SmallVector<const Condition *> parts;
  Bits present = 0;
  for (unsigned index : indices)
    present |= Bits(1) << index;
  for (const Condition &condition : conditions)
    if (!(condition.indices & ~present))
      parts.push_back(&condition);
  Reducer reducer = indices.size() == numOpen ? Reducer::none : Reducer::sum;
  ComputeOp step =
      makeOver(builder, op, indices, numOpen, reducer, !parts.empty());
  if (!parts.empty()) {
    OpBuilder inside = OpBuilder::atBlockEnd(&step.getCondition().front());
    Value holds;
    for (const Condition *part : parts) {
      ComputeOp source = part->source;
      IRMapping mapping;
      for (unsigned i = 0; i < source.getNumIndices(); ++i)
        if (const auto *at = llvm::find(indices, part->map[i]);
            at != indices.end()) {
          Value argument =
              step.getCondition().getArgument(at - indices.begin());
          mapping.map(source.getIndex(i), argument);
          if (source.hasCondition())
            mapping.map(source.getCondition().getArgument(i), argument);
        }
      Value next = cloneValue(inside, part->value, source, mapping);
      holds = holds ? arith::AndIOp::create(inside, op.getLoc(), holds, next)
                          .getResult()
                    : next;
    }
    YieldOp::create(inside, op.getLoc(), holds);
  }
  OpBuilder inside = OpBuilder::atBlockEnd(&step.getBody().front());
  Value product;
  for (const Operand &operand : operands) {
    Value value = valueOf(inside, operand, step, indices);
    product = product
                  ? arith::MulFOp::create(inside, op.getLoc(), product, value)
                        .getResult()
                  : value;
  }
  YieldOp::create(inside, op.getLoc(), product);
  if (isWhole(set))
    step->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  indices.truncate(numOpen);
  return {nullptr, step.getResult(), indices};
}

/// An operand of a matrix product: an array.
Network::Operand Network::writeArray(OpBuilder &builder, const Operand &operand,
                                     Bits set) {
  if (!operand.factor || operand.factor->plainRead())
    return operand;
  return writeStep(builder, set, operand);
}

Network::Operand Network::writeSet(OpBuilder &builder, Bits set) {
  if (isLeaf(set)) {
    Operand leaf = {&factors[llvm::countr_zero(set)], {}, {}};
    return isArray(set) ? writeStep(builder, set, leaf) : leaf;
  }
  Bits sides[] = {split[set], set & ~split[set]};
  SmallVector<Operand> operands;
  for (Bits side : sides) {
    Operand operand = writeSet(builder, side);
    if (isProduct(sides[0], sides[1]))
      operand = writeArray(builder, operand, side);
    operands.push_back(operand);
  }
  return writeStep(builder, set, operands);
}

void Network::write() {
  OpBuilder builder(op);
  Value result = writeSet(builder, last()).array;
  if (isNegated) {
    auto indices = llvm::to_vector(llvm::seq<unsigned>(0, numParallel));
    ComputeOp negated =
        makeOver(builder, op, indices, indices.size(), Reducer::none);
    OpBuilder inside = OpBuilder::atBlockEnd(&negated.getBody().front());
    SmallVector<Value> at(negated.getBody().getArguments());
    Value value = ReadOp::create(inside, op.getLoc(), result, at);
    value = arith::NegFOp::create(inside, op.getLoc(), value);
    YieldOp::create(inside, op.getLoc(), value);
    result = negated.getResult();
  }
  op.getResult().replaceAllUsesWith(result);
}

namespace {
struct OrderFactors : fovea::attn::impl::OrderFactorsBase<OrderFactors> {
  void runOnOperation() override {
    for (auto system : getOperation().getOps<SystemOp>()) {
      // What is read by others first, what reads it behind it.
      llvm::SetVector<ComputeOp> replaced;
      for (auto op : llvm::to_vector(system.getOps<ComputeOp>())) {
        Network network(op, system);
        if (!network.collect() || !network.findOrder())
          continue;
        network.write();
        replaced.insert_range(network.outerProducts);
        replaced.insert(op);
      }
      for (ComputeOp op : llvm::reverse(replaced))
        if (op.getResult().use_empty())
          op.erase();
    }
  }
};
} // namespace
