//===- OrderEquations.cpp - in which order each equation adds up ----------===//
//
// The bits of a sum depend on its order and roundings. So both are decided
// here, on the original equation and before training and decoding are split:
// samples and scores have equal bits. A step has lost the time index, which
// distinguishes a score from any other sum, so no later pass could decide
// it.
//
//===----------------------------------------------------------------------===//

#include "dialect/RoundedFactors.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/GatheredProduct.h"
#include "passes/analysis/Orders.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_ORDEREQUATIONS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Returns whether every array that `op` reads has fewer axes than its result.
static bool isExpansion(ComputeOp op) {
  bool result = true;
  op.walk([&](ReadOp read) {
    result &=
        read.getArrayType().getRank() < op.getResult().getType().getRank();
  });
  return result;
}

/// Returns whether the condition of `op` implies the condition of the equation
/// that `read`, of `op`, finds.
static bool isGuarded(ReadOp read, ComputeOp source, ComputeOp op) {
  if (!source.hasCondition())
    return true;
  Value condition =
      source.getCondition().front().getTerminator()->getOperand(0);
  SmallVector<Guard> guards = guardsOf(source), own = guardsOf(op);
  if (guards.size() != conjunctsOf(condition).size())
    return false;
  return llvm::all_of(guards, [&](const Guard &guard) {
    AccessIndex lhs = classify(read.getIndices()[guard.lhs], op);
    AccessIndex rhs = classify(read.getIndices()[guard.rhs], op);
    if (lhs.kind != AccessIndex::Iterator || rhs.kind != AccessIndex::Iterator)
      return false;
    int64_t offset = guard.offset + rhs.offset - lhs.offset;
    return llvm::any_of(own, [&](const Guard &known) {
      return known.lhs == lhs.iterator && known.rhs == rhs.iterator &&
             known.offset <= offset;
    });
  });
}

/// Moves a product that a sum reads, `sum[u](p[t,u])` with `p[t,u] = a[t,u] *
/// b[u]`, into the sum: multiply-adds then round once, whatever else reads the
/// product. A named product is a visible number and stays, unless it is larger
/// than all its inputs.
static void bringProduct(ComputeOp op) {
  auto read = op.getYielded().getDefiningOp<ReadOp>();
  if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
      !read || read->getBlock() != &op.getBody().front() ||
      !read.getAlternatives().empty() || read.getOtherwise())
    return;
  auto source = read.getArray().getDefiningOp<ComputeOp>();
  if (!source || source.getReducer() != Reducer::none ||
      !startsAtZero(source) || !productIn(source) ||
      !isGuarded(read, source, op) ||
      (source.getLabel() && !isExpansion(source)))
    return;
  OpBuilder builder(read);
  IRMapping mapping;
  mapping.map(source.getBody().getArguments(), read.getIndices());
  for (Operation &inner : source.getBody().front().without_terminator())
    builder.clone(inner, mapping);
  read.getResult().replaceAllUsesWith(mapping.lookup(source.getYielded()));
  read.erase();
}

/// In a convolution whose gathered factor depends on the example, the channels
/// become the last index of the sum. A matrix product adds them up there
/// (`attn-order-channels`). The same holds in a step, which has no such
/// product.
static ComputeOp putChannelsLast(ComputeOp op, Examples &examples) {
  arith::MulFOp product = productIn(op);
  if (op.getReducer() != Reducer::sum || op.getNumReduction() < 2 || !product ||
      !isLikeMatrixProduct(op, examples))
    return op;
  auto gathered = product.getLhs().getDefiningOp<ReadOp>();
  auto plain = product.getRhs().getDefiningOp<ReadOp>();
  if (!gathered || !plain)
    return op;
  if (!examples.has(gathered.getArray()))
    std::swap(gathered, plain);
  if (!examples.has(gathered.getArray()) || examples.has(plain.getArray()))
    return op;
  uint64_t ofCondition =
      op.hasCondition()
          ? dependence(op.getCondition().front().getTerminator()->getOperand(0))
          : 0;
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumIndices()));
  std::optional<unsigned> run =
      longestRun(gathered, op, ArrayRef(order).drop_front(op.getNumParallel()),
                 ofCondition);
  if (!run || *run == order.back())
    return op;
  order.erase(llvm::find(order, *run));
  order.push_back(*run);
  OpBuilder builder(op);
  ComputeOp sum = reordered(builder, op, order);
  examples.replace(op.getResult(), sum.getResult());
  op.getResult().replaceAllUsesWith(sum.getResult());
  op.erase();
  return sum;
}

namespace {
/// A sum over earlier places and other indices: `sum[j,k where j < i](..)`.
struct RunningSum {
  unsigned time = 0, run = 0;
  /// What involves the time, and the rest, of the condition.
  SmallVector<Value> ofTime, rest;
};
} // namespace

/// Not one with nested lengths, which belong to the places of another index.
static std::optional<RunningSum> runningSum(ComputeOp op) {
  if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
      op.getNumReduction() < 2 || !op.hasCondition() || !startsAtZero(op) ||
      llvm::any_of(op.getExtents(), [&](Attribute extent) {
        return variesInside(extent, op->getParentOp());
      }))
    return std::nullopt;
  for (const Guard &guard : guardsOf(op)) {
    if (guard.lhs < op.getNumParallel() || guard.rhs >= op.getNumParallel() ||
        !op.getIndex(guard.rhs).use_empty())
      continue;
    RunningSum found{guard.rhs, guard.lhs, {}, {}};
    uint64_t both =
        uint64_t(1) << guard.lhs | ((uint64_t(1) << op.getNumParallel()) - 1);
    bool isSeparate = true;
    for (Value part : conjunctsOf(
             op.getCondition().front().getTerminator()->getOperand(0))) {
      uint64_t needs = dependence(part);
      bool usesTime = needs >> found.time & 1;
      isSeparate &= part.getParentBlock() == &op.getCondition().front() &&
                    (!usesTime || (needs & ~both) == 0);
      (usesTime ? found.ofTime : found.rest).push_back(part);
    }
    if (isSeparate)
      return found;
  }
  return std::nullopt;
}

/// Gives `to`, a condition or a body, the value `wanted` of `from`, or all of
/// several, with its arguments mapped.
static void fill(Region &to, Region &from, ArrayRef<Value> wanted,
                 IRMapping mapping, Location loc) {
  auto builder = OpBuilder::atBlockEnd(&to.front());
  Value all;
  for (Value part : wanted) {
    Value own = copyScalar(part, &from.front(), builder, mapping);
    all = all ? arith::AndIOp::create(builder, loc, all, own).getResult() : own;
  }
  YieldOp::create(builder, loc, all);
}

/// The terms of each place become an equation, and their sum runs over places
/// alone: a step of decoding adds what its place gives, as one number. Returns
/// that equation, and the sum in place of `op`.
static std::pair<ComputeOp, ComputeOp> nameTerms(ComputeOp op,
                                                 const RunningSum &running) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<unsigned> ofTerms, ofSum;
  unsigned numParallel = op.getNumParallel();
  for (unsigned index = 0; index < op.getNumIndices(); ++index) {
    if (index != running.run)
      ofTerms.push_back(index == running.time ? running.run : index);
    if (index < numParallel || index == running.run)
      ofSum.push_back(index);
  }
  ComputeOp terms = makeOver(builder, op, ofTerms, numParallel, Reducer::sum,
                             !running.rest.empty());
  terms.removeLabelAttr();
  ComputeOp sum = makeOver(builder, op, ofSum, numParallel, Reducer::sum,
                           /*hasCondition=*/true);
  auto mapped = [&](Region &from, Region &to, ArrayRef<unsigned> indices) {
    IRMapping mapping;
    for (auto [number, index] : llvm::enumerate(indices))
      mapping.map(from.getArgument(index), to.getArgument(number));
    return mapping;
  };
  if (terms.hasCondition())
    fill(terms.getCondition(), op.getCondition(), running.rest,
         mapped(op.getCondition(), terms.getCondition(), ofTerms), loc);
  fill(terms.getBody(), op.getBody(), op.getYielded(),
       mapped(op.getBody(), terms.getBody(), ofTerms), loc);
  fill(sum.getCondition(), op.getCondition(), running.ofTime,
       mapped(op.getCondition(), sum.getCondition(), ofSum), loc);
  auto inside = OpBuilder::atBlockEnd(&sum.getBody().front());
  SmallVector<Value> at;
  for (unsigned index : ArrayRef(ofTerms).take_front(numParallel))
    at.push_back(sum.getIndex(llvm::find(ofSum, index) - ofSum.begin()));
  Value own = ReadOp::create(inside, loc, terms.getResult(), at);
  YieldOp::create(inside, loc, own);
  op.getResult().replaceAllUsesWith(sum.getResult());
  op.erase();
  return {terms, sum};
}

namespace {
struct OrderEquations : fovea::attn::impl::OrderEquationsBase<OrderEquations> {
  void runOnOperation() override {
    for (auto system : getOperation().getOps<SystemOp>()) {
      SmallVector<ComputeOp> open;
      for (auto op : system.getOps<ComputeOp>())
        if (op.getReducer() != Reducer::none && !op.getOrderAttr())
          open.push_back(op);
      for (ComputeOp op : open)
        bringProduct(op);
      for (size_t number = 0, count = open.size(); number < count; ++number)
        if (std::optional<RunningSum> running = runningSum(open[number])) {
          auto [terms, sum] = nameTerms(open[number], *running);
          open[number] = sum;
          open.push_back(terms);
        }
      llvm::DenseSet<Attribute> blocks;
      for (auto length : system.getOps<LengthOp>())
        if (length.getBlocks())
          blocks.insert(length.getLengthAttr());
      Examples examples(system);
      for (ComputeOp op : open) {
        op = putChannelsLast(op, examples);
        op.setOrderAttr(orderOf(op, examples, blocks));
      }
      // Once all sums are as both systems have them.
      bool isDerived =
          system.getSymName() == "loss" || system.getSymName() == "decode";
      if (isDerived && allowsRoundedFactors(system))
        for (auto op : system.getOps<ComputeOp>())
          if (isLargeProduct(op, examples))
            setRoundsFactors(op);
    }
  }
};
} // namespace
