//===- Demand.cpp - up to which place an equation is read -----------------===//
//
// A step of a search computes what has been generated so far. `s[t,u] = q[t] *
// k[u]` needs every k, but if only `s[t,u]` with `u <= t` is read, no later one
// is needed. This pass finds the largest distance between two places of an
// element over all of its reads, from the results back to the inputs. Where the
// system counts places in blocks, it does so for their blocks too. The equation
// gets these distances as a condition. The reads of a recurrence from itself
// count under the reads of its other users.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "mlir/IR/Matchers.h"
#include "passes/schedule/Plan.h"

#include <map>
#include <queue>
#include <set>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

class Demand {
public:
  explicit Demand(const Graph &graph);
  void restate() const;

private:
  /// Two axes of an array whose places are compared, in blocks of a size.
  struct Pair {
    unsigned axis, of;
    int64_t size;
    auto operator<=>(const Pair &) const = default;
  };
  /// The largest difference of each.
  using Differences = std::map<Pair, int64_t>;

  SmallVector<Pair> pairsOf(Value array) const;
  void read(const Edge &edge);
  SmallVector<Bound> boundsOf(Operation *op) const;
  void add(Operation *op, const Pair &pair, int64_t most);

  const Graph &graph;
  llvm::SmallPtrSet<Attribute, 4> generated; // extents
  std::set<int64_t> sizes = {1};             // of blocks
  llvm::MapVector<Operation *, Differences> demanded;
  llvm::DenseMap<Operation *, unsigned> growths;
  std::queue<Operation *> open;
};

} // namespace

/// A demand that grows more often has no limit.
static constexpr unsigned maxGrowths = 8;

/// Blocks of more sizes are not told apart.
static constexpr size_t maxSizes = 4;

Demand::Demand(const Graph &graph) : graph(graph) {
  graph.getSystem().walk([&](arith::FloorDivSIOp quotient) {
    APInt size;
    if (sizes.size() < maxSizes &&
        matchPattern(quotient.getRhs(), m_ConstantInt(&size)) &&
        size.isStrictlyPositive() && size.isSignedIntN(32))
      sizes.insert(size.getSExtValue());
  });
  for (ChoiceOp choice : generatedNames(graph.getSystem()))
    for (Attribute extent :
         cast<ArrayType>(choice.getResult().getType()).getShape().getValue())
      generated.insert(extent);
  for (Operation *op : graph.getNodes())
    if (op->getNumResults() == 0 || isa<ChoiceOp>(op)) {
      open.push(op);
      for (Value result : op->getResults())
        for (auto pair : pairsOf(result))
          demanded[op][pair] = Distance::infinity;
    }
  while (!open.empty()) {
    Operation *op = open.front();
    open.pop();
    for (const Edge &edge : graph.getReads(op))
      read(edge);
  }
}

/// The axes of one extent that depends on what is generated, two by two.
SmallVector<Demand::Pair> Demand::pairsOf(Value array) const {
  SmallVector<Pair> pairs;
  auto shape = cast<ArrayType>(array.getType()).getShape();
  for (auto [a, extent] : llvm::enumerate(shape))
    for (auto [b, other] : llvm::enumerate(shape))
      if (a != b && extent == other &&
          llvm::any_of(generated, [&, extent = extent](Attribute length) {
            return graph.derivesFrom(extent, length);
          }))
        for (int64_t size : sizes)
          pairs.push_back({unsigned(a), unsigned(b), size});
  return pairs;
}

/// What is known of the indices of `op` wherever its result is read. Each
/// element of a softmax depends on all others, whichever are read.
SmallVector<Bound> Demand::boundsOf(Operation *op) const {
  SmallVector<Bound> bounds;
  auto compute = dyn_cast<ComputeOp>(op);
  auto isFree = [&](unsigned index) {
    return !compute || index < compute.getNumParallel();
  };
  if (const auto *found = demanded.find(op); found != demanded.end())
    for (auto &[pair, most] : found->second)
      if (most < Distance::infinity && isFree(pair.axis) && isFree(pair.of))
        bounds.push_back({pair.axis, pair.of, pair.size, most});
  return bounds;
}

void Demand::read(const Edge &edge) {
  bool isNew = demanded.try_emplace(edge.target).second;
  Differences before = demanded[edge.target];
  SmallVector<Bound> known = boundsOf(edge.reader);
  for (const Pair &pair : pairsOf(edge.access->array))
    add(edge.target, pair,
        largestBetween(*edge.access, pair.axis, pair.of, pair.size, known));
  auto isSame = [&] { return llvm::equal(before, demanded[edge.target]); };
  if (isNew || !isSame())
    open.push(edge.target);
}

void Demand::add(Operation *op, const Pair &pair, int64_t most) {
  auto [it, isNew] = demanded[op].insert({pair, most});
  if (isNew || most <= it->second)
    return;
  it->second = ++growths[op] > maxGrowths ? Distance::infinity : most;
}

/// Returns whether the bound of the same two indices says as much.
static bool follows(const Bound &bound, ArrayRef<Bound> others) {
  return llvm::any_of(others, [&](const Bound &other) {
    return other.index == bound.index && other.of == bound.of &&
           other.size == 1 && bound.size > 1 &&
           llvm::divideCeilSigned(other.offset, bound.size) <= bound.offset;
  });
}

void Demand::restate() const {
  for (auto &[op, differences] : demanded) {
    auto compute = dyn_cast<ComputeOp>(op);
    if (!compute)
      continue;
    SmallVector<Bound> bounds, all = boundsOf(op);
    for (const Bound &bound : all)
      if (bound.offset > -Distance::infinity && !follows(bound, all) &&
          largestDifference(compute, bound.index, bound.of, bound.size) >
              bound.offset)
        bounds.push_back(bound);
    if (bounds.empty())
      continue;
    Value before = openCondition(compute);
    Block &block = compute.getCondition().front();
    auto builder = OpBuilder::atBlockEnd(&block);
    Location loc = compute.getLoc();
    Conjunction conditions(builder, loc);
    for (const Bound &bound : bounds) {
      auto number = [&](int64_t value) {
        return arith::ConstantIndexOp::create(builder, loc, value);
      };
      auto placeOf = [&](unsigned index) -> Value {
        Value place = block.getArgument(index);
        return bound.size == 1 ? place
                               : arith::FloorDivSIOp::create(
                                     builder, loc, place, number(bound.size));
      };
      Value last = arith::AddIOp::create(builder, loc, placeOf(bound.of),
                                         number(bound.offset));
      conditions.require(arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::sle, placeOf(bound.index), last));
    }
    // Index arithmetic comes first: reads of arrays may be valid only where it
    // holds.
    if (before)
      conditions.require(before);
    YieldOp::create(builder, loc, conditions.finish());
  }
}

void schedule::restrictToDemand(const Graph &graph) { Demand(graph).restate(); }
