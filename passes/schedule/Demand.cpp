//===- Demand.cpp - up to which place an equation is read -----------------===//
//
// A step of a search computes what has been generated so far. `s[t,u] = q[t] *
// k[u]` needs every k, but if only `s[t,u]` with `u <= t` is read, no later one
// is needed. This pass finds the largest distance between two places of an
// element over all of its reads, from the results back to the inputs. The
// equation gets it as a condition. The reads of a recurrence from itself count
// under the reads of its other users.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "passes/schedule/Plan.h"

#include <queue>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

class Demand {
public:
  explicit Demand(const Graph &graph);
  void restate() const;

private:
  /// For two axes of an array: the largest difference of their places.
  using Differences = llvm::MapVector<std::pair<unsigned, unsigned>, int64_t>;

  SmallVector<std::pair<unsigned, unsigned>> pairsOf(Value array) const;
  void read(const Edge &edge);
  SmallVector<Bound> boundsOf(Operation *op) const;
  void add(Operation *op, std::pair<unsigned, unsigned> pair, int64_t most);

  const Graph &graph;
  llvm::SmallPtrSet<Attribute, 4> generated; // extents
  llvm::MapVector<Operation *, Differences> demanded;
  llvm::DenseMap<Operation *, unsigned> growths;
  std::queue<Operation *> open;
};

} // namespace

/// A demand that grows more often has no limit.
static constexpr unsigned maxGrowths = 8;

Demand::Demand(const Graph &graph) : graph(graph) {
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
SmallVector<std::pair<unsigned, unsigned>> Demand::pairsOf(Value array) const {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  auto shape = cast<ArrayType>(array.getType()).getShape();
  for (auto [a, extent] : llvm::enumerate(shape))
    for (auto [b, other] : llvm::enumerate(shape))
      if (a != b && extent == other &&
          llvm::any_of(generated, [&, extent = extent](Attribute length) {
            return graph.derivesFrom(extent, length);
          }))
        pairs.push_back({a, b});
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
      if (most < Distance::infinity && isFree(pair.first) &&
          isFree(pair.second))
        bounds.push_back({pair.first, pair.second, most});
  return bounds;
}

void Demand::read(const Edge &edge) {
  bool isNew = demanded.try_emplace(edge.target).second;
  Differences before = demanded[edge.target];
  SmallVector<Bound> known = boundsOf(edge.reader);
  for (auto pair : pairsOf(edge.access->array))
    add(edge.target, pair,
        largestBetween(*edge.access, pair.first, pair.second, known));
  auto isSame = [&] { return llvm::equal(before, demanded[edge.target]); };
  if (isNew || !isSame())
    open.push(edge.target);
}

void Demand::add(Operation *op, std::pair<unsigned, unsigned> pair,
                 int64_t most) {
  auto [it, isNew] = demanded[op].insert({pair, most});
  if (isNew || most <= it->second)
    return;
  it->second = ++growths[op] > maxGrowths ? Distance::infinity : most;
}

void Demand::restate() const {
  for (auto &[op, differences] : demanded) {
    auto compute = dyn_cast<ComputeOp>(op);
    if (!compute)
      continue;
    SmallVector<Bound> bounds = boundsOf(op);
    llvm::erase_if(bounds, [&, compute = compute](const Bound &bound) {
      return bound.offset <= -Distance::infinity ||
             largestDifference(compute, bound.index, bound.of) <= bound.offset;
    });
    if (bounds.empty())
      continue;
    Value before = openCondition(compute);
    Block &block = compute.getCondition().front();
    auto builder = OpBuilder::atBlockEnd(&block);
    Location loc = compute.getLoc();
    Conjunction all(builder, loc);
    for (const Bound &bound : bounds) {
      Value offset = arith::ConstantIndexOp::create(builder, loc, bound.offset);
      Value last = arith::AddIOp::create(builder, loc,
                                         block.getArgument(bound.of), offset);
      all.require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                        block.getArgument(bound.index), last));
    }
    // Index arithmetic comes first: reads of arrays may be valid only where it
    // holds.
    if (before)
      all.require(before);
    YieldOp::create(builder, loc, all.finish());
  }
}

void schedule::restrictToDemand(const Graph &graph) { Demand(graph).restate(); }
