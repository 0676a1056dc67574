//===- OrderFactors.cpp - sums of several factors, pair by pair -----------===//
//
// Finds the cheapest order of pairwise sums for a sum of a product of several
// factors, and writes each step as an equation. It uses dynamic programming
// over the sets of factors. The sizes are the program's, so the order is the
// same in every batch and on every machine. A later pass marks matrix products.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"
#include "passes/derive/Factors.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

namespace fovea::attn {
#define GEN_PASS_DEF_ORDERFACTORS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// Dynamic programming examines 3^n pairs of sets.
static constexpr unsigned maxFactors = 7;
/// The assumed value of a length in cost estimates.
static constexpr double usualLength = 64;
/// The maximum number of elements of an intermediate, per example.
static constexpr double maxElements = 1 << 20;
/// Smaller contractions are never matrix products.
static constexpr double leastExtent = 8;
/// The cost of a scalar multiply-add relative to one of a matrix product, and
/// the cost of an element that is written and read again.
static constexpr double loopCost = 4;
/// The required speedup of another order.
static constexpr double leastGain = 2;

/// A set of indices of an op, or of sum.factors.
using Bits = uint64_t;

namespace {

/// A sum of a product, as its factors, and the best order found.
class Network {
public:
  Network(ComputeOp op, FactoredSum sum);

  /// Returns whether there is more than one order.
  bool hasChoice() const;
  /// Returns false if no order is clearly cheaper than the sum as written.
  bool findOrder();
  /// Writes the equations of the order in place of `op`.
  void write();

private:
  /// The result of a set of factors: an array over `axes`, or a factor.
  struct Operand {
    const Part *factor = nullptr;
    Value array;
    SmallVector<unsigned> axes;
  };

  double volume(Bits indices) const;
  /// All indices of a set of sum.factors.
  Bits allOf(Bits set) const;
  /// The indices that remain after the set has been multiplied and summed.
  Bits openOf(Bits set) const;
  bool isWhole(Bits set) const { return set == last(); }
  Bits last() const { return (Bits(1) << sum.factors.size()) - 1; }
  bool isLeaf(Bits set) const { return llvm::has_single_bit(set); }
  /// Returns whether the set becomes a separate array.
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
  std::optional<Operand> writeJoined(OpBuilder &builder, Bits set,
                                     ArrayRef<Operand> operands);
  Operand asArray(const Operand &operand) const;
  /// Expands the places of some indices to all indices of the sum.
  SmallVector<Value> placesOf(ValueRange arguments, ArrayRef<unsigned> indices);
  SmallVector<unsigned> orderOf(Bits set, Bits left, Bits right) const;

  ComputeOp op;
  FactoredSum sum;
  unsigned numParallel;
  SmallVector<double> sizes;
  Bits reduced = 0;
  /// For each set of factors: its cost, and the part that is its left side.
  SmallVector<double> cost;
  SmallVector<Bits> split;
};

} // namespace

static void forBits(Bits bits, llvm::function_ref<void(unsigned)> visit) {
  for (; bits; bits &= bits - 1)
    visit(llvm::countr_zero(bits));
}

Network::Network(ComputeOp op, FactoredSum factored)
    : op(op), sum(std::move(factored)), numParallel(op.getNumParallel()) {
  for (Attribute extent : op.getExtents()) {
    auto number = dyn_cast<IntegerAttr>(extent);
    sizes.push_back(number ? double(number.getInt()) : usualLength);
  }
  for (unsigned i = numParallel; i < op.getNumIndices(); ++i)
    reduced |= Bits(1) << i;
}

bool Network::hasChoice() const {
  return (allOf(last()) & reduced) == reduced &&
         (sum.factors.size() > 2 ||
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
  forBits(set, [&](unsigned i) { all |= sum.factors[i].indices; });
  return all;
}

Bits Network::openOf(Bits set) const {
  Bits all = allOf(set), open = all & ~reduced;
  open |= all & allOf(last() & ~set);
  // A condition holds an index back until all of its indices have met; the
  // result keeps indices that no factor has.
  for (const Part &condition : sum.conditions)
    if (!isWhole(set) && (condition.indices & ~all))
      open |= condition.indices & all;
  return open;
}

/// Returns whether the whole batch shares a set of factors.
bool Network::isWeights(Bits set) const {
  ReadOp read =
      isLeaf(set) ? sum.factors[llvm::countr_zero(set)].plainRead() : ReadOp();
  return read && throughViews(read.getArray()).getDefiningOp<ParamOp>();
}

/// Returns whether the sum of the product of arrays over `a` and `b` that
/// leaves `open` has the shape of a matrix product: summed indices belong to
/// both, rows and columns to one each.
bool Network::isLargeProduct(Bits a, Bits b, Bits open) const {
  Bits terms = (a | b) & ~open;
  return terms == (a & b & ~open) && volume(terms) >= leastExtent &&
         volume(open & a & ~b) >= leastExtent &&
         volume(open & b & ~a) >= leastExtent;
}

/// Returns whether the product of two sets of factors will be a matrix product.
/// Its columns are the last index of the result; weights have one of its
/// indices, products of an example one of the terms.
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
  if (sum.written.size() == 2 &&
      isLargeProduct(sum.written[0], sum.written[1], kept))
    return elements;
  return elements * std::max<size_t>(1, sum.written.size() - 1) * loopCost;
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
  for (const Part &factor : sum.factors)
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

SmallVector<Value> Network::placesOf(ValueRange arguments,
                                     ArrayRef<unsigned> indices) {
  SmallVector<Value> places(op.getNumIndices());
  for (auto [argument, index] : llvm::zip(arguments, indices))
    places[index] = argument;
  return places;
}

/// The indices of a result: those of the sum's first, in order, then those
/// summed up later. The last one belongs to one side only, if any does: it is
/// the columns of a product.
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
  SmallVector<const Part *> parts;
  Bits present = 0;
  for (unsigned index : indices)
    present |= Bits(1) << index;
  for (const Part &condition : sum.conditions)
    if (!(condition.indices & ~present))
      parts.push_back(&condition);
  Reducer reducer = indices.size() == numOpen ? Reducer::none : Reducer::sum;
  ComputeOp step =
      makeOver(builder, op, indices, numOpen, reducer, !parts.empty());
  if (!parts.empty()) {
    OpBuilder inside = OpBuilder::atBlockEnd(&step.getCondition().front());
    SmallVector<Value> places =
        placesOf(step.getCondition().getArguments(), indices);
    Value holds;
    for (const Part *part : parts) {
      Value next = part->cloneAt(inside, places);
      holds = holds ? arith::AndIOp::create(inside, op.getLoc(), holds, next)
                          .getResult()
                    : next;
    }
    YieldOp::create(inside, op.getLoc(), holds);
  }
  OpBuilder inside = OpBuilder::atBlockEnd(&step.getBody().front());
  SmallVector<Value> places = placesOf(step.getBody().getArguments(), indices);
  Value product;
  for (const Operand &operand : operands) {
    Value value;
    if (operand.factor)
      value = operand.factor->cloneAt(inside, places);
    else
      value =
          ReadOp::create(inside, op.getLoc(), operand.array,
                         llvm::map_to_vector(operand.axes, [&](unsigned axis) {
                           return places[axis];
                         }));
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

/// The value of a read at indices of the sum, as an array.
Network::Operand Network::asArray(const Operand &operand) const {
  if (!operand.factor)
    return operand;
  ReadOp read = operand.factor->plainRead();
  Operand result = {nullptr, read.getArray(), {}};
  for (Value at : read.getIndices())
    result.axes.push_back(
        operand.factor->map[classify(at, operand.factor->source).iterator]);
  return result;
}

/// The step as a product over one index, if it sums over several that are the
/// last axes of both arrays: views of these store the elements in a row.
std::optional<Network::Operand>
Network::writeJoined(OpBuilder &builder, Bits set, ArrayRef<Operand> operands) {
  Bits terms = ~openOf(set) & openOf(split[set]);
  size_t count = llvm::popcount(terms);
  if (count < 2 || llvm::any_of(
                       sum.conditions,
                       [&](const Part &condition) {
                         return condition.indices & allOf(set);
                       }))
    return std::nullopt;
  Operand sides[] = {asArray(operands[0]), asArray(operands[1])};
  auto last = [&](const Operand &side) {
    return ArrayRef(side.axes).take_back(count);
  };
  bool canJoin = sides[0].axes.size() >= count &&
                 sides[1].axes.size() >= count &&
                 last(sides[0]) == last(sides[1]);
  int64_t joined = 1;
  std::string name;
  if (canJoin)
    for (unsigned index : last(sides[0])) {
      auto number = dyn_cast<IntegerAttr>(op.getExtents()[index]);
      canJoin &= number && op.getLower()[index] == 0 && (terms >> index & 1);
      joined *= number ? number.getInt() : 1;
      name += cast<StringAttr>(op.getIndices()[index]).getValue();
    }
  if (!canJoin)
    return std::nullopt;
  SmallVector<unsigned> order =
      isWhole(set) ? llvm::to_vector(llvm::seq(numParallel))
                   : orderOf(set, split[set], set & ~split[set]);
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  for (unsigned index : order) {
    names.push_back(op.getIndices()[index]);
    extents.push_back(op.getExtents()[index]);
    lower.push_back(op.getLower()[index]);
  }
  names.push_back(builder.getStringAttr(name));
  extents.push_back(builder.getI64IntegerAttr(joined));
  lower.push_back(0);
  auto step = ComputeOp::create(
      builder, op.getLoc(), op.getLabel().value_or(""), names, extents, lower,
      order.size(), Reducer::sum, op.getElementType());
  OpBuilder inside = OpBuilder::atBlockEnd(&step.getBody().front());
  SmallVector<Value> places =
      placesOf(step.getBody().getArguments().drop_back(), order);
  Value factors[2];
  for (auto [side, factor] : llvm::zip(sides, factors)) {
    auto type = cast<ArrayType>(side.array.getType());
    unsigned keep = side.axes.size() - count;
    SmallVector<Attribute> shape(type.getShape().getValue().take_front(keep));
    shape.push_back(extents.back());
    Value view = ReshapeOp::create(
        builder, op.getLoc(), ArrayType::get(shape, type.getElementType()),
        StringAttr(), side.array, builder.getI64IntegerAttr(keep));
    // Before its reader, for those who look.
    view.getDefiningOp()->moveBefore(step);
    SmallVector<Value> at;
    for (unsigned axis : ArrayRef(side.axes).drop_back(count))
      at.push_back(places[axis]);
    at.push_back(step.getBody().getArguments().back());
    factor = ReadOp::create(inside, op.getLoc(), view, at);
  }
  Value product =
      arith::MulFOp::create(inside, op.getLoc(), factors[0], factors[1]);
  YieldOp::create(inside, op.getLoc(), product);
  if (isWhole(set))
    step->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return Operand{nullptr, step.getResult(), order};
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
    Operand leaf = {&sum.factors[llvm::countr_zero(set)], {}, {}};
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
  if (isProduct(sides[0], sides[1]))
    if (std::optional<Operand> joined = writeJoined(builder, set, operands))
      return *joined;
  return writeStep(builder, set, operands);
}

void Network::write() {
  OpBuilder builder(op);
  Value result = writeSet(builder, last()).array;
  if (sum.isNegated) {
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
      // Producers first, then their readers.
      llvm::SetVector<ComputeOp> replaced;
      for (auto op : llvm::to_vector(system.getOps<ComputeOp>())) {
        if (llvm::any_of(op.getExtents(), [&](Attribute extent) {
              return variesInside(extent, system);
            }))
          continue;
        std::optional<FactoredSum> sum = factorsOf(op, maxFactors);
        if (!sum)
          continue;
        Network network(op, *sum);
        if (!network.hasChoice() || !network.findOrder())
          continue;
        network.write();
        replaced.insert_range(sum->outerProducts);
        replaced.insert(op);
      }
      for (ComputeOp op : llvm::reverse(replaced))
        if (op.getResult().use_empty())
          op.erase();
    }
  }
};
} // namespace
