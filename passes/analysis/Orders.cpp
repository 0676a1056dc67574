//===- Orders.cpp - the order in which an equation adds up ----------------===//

#include "passes/analysis/Orders.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/VectorIndex.h"

using namespace mlir;
using namespace fovea::attn;

Examples::Examples(SystemOp system) {
  llvm::DenseMap<Value, SmallVector<Operation *, 2>> readers;
  SmallVector<Value> list;
  for (Operation &op : system.getBody().front()) {
    bool differs = isa<DataOp, ChoiceOp>(op);
    op.walk(
        [&](Operation *inner) { differs |= isa<RandomOp, ExtentOp>(inner); });
    if (differs)
      llvm::append_range(list, op.getResults());
    forArrays(op,
              [&](Operation *, Value array) { readers[array].push_back(&op); });
  }
  while (!list.empty()) {
    Value array = list.pop_back_val();
    if (found.insert(array).second)
      for (Operation *reader : readers.lookup(array))
        llvm::append_range(list, reader->getResults());
  }
}

bool Examples::has(Value array) const {
  return isBatched ? isPerExample(array) : found.contains(array);
}

arith::MulFOp fovea::attn::productIn(ComputeOp op) {
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  return product && product->getBlock() == &op.getBody().front()
             ? product
             : arith::MulFOp();
}

/// The dependences of `value`: indices of its equation, and (the last bit) the
/// example.
static constexpr unsigned exampleBit = 63;
static uint64_t needsOf(Value value, const Examples &examples) {
  uint64_t bits = dependence(value);
  SmallVector<Value> list = {value};
  llvm::DenseSet<Value> seen;
  while (!list.empty()) {
    Operation *op = list.pop_back_val().getDefiningOp();
    if (!op || !isa<ComputeOp>(op->getParentOp()))
      continue;
    op->walk([&](Operation *inner) {
      if (isa<RandomOp, ExtentOp>(inner))
        bits |= uint64_t(1) << exampleBit;
      for (Value operand : inner->getOperands()) {
        if (isa<ArrayType>(operand.getType())) {
          if (examples.has(operand))
            bits |= uint64_t(1) << exampleBit;
        } else if (seen.insert(operand).second) {
          list.push_back(operand);
        }
      }
    });
  }
  return bits;
}

bool fovea::attn::isLikeMatrixProduct(ComputeOp op, const Examples &examples) {
  arith::MulFOp product = productIn(op);
  if (!product || op.getNumIndices() >= exampleBit)
    return false;
  auto isLarge = [&](uint64_t indices) {
    int64_t size = indices >> exampleBit ? leastExtent : 1;
    for (unsigned index = 0; index < op.getNumIndices(); ++index)
      if (indices >> index & 1)
        size *= std::clamp<int64_t>(
            numberOf(op.getExtents()[index]).value_or(leastExtent), 1,
            leastExtent);
    return size >= leastExtent;
  };
  uint64_t parallel = (uint64_t(1) << op.getNumParallel()) - 1;
  uint64_t terms = (uint64_t(1) << op.getNumIndices()) - 1 - parallel;
  // A sum over the examples has one result for all of them.
  bool isOfAll = examples.areBatched() && batchOf(op) == BatchKind::sum;
  uint64_t ofExample = uint64_t(1) << exampleBit;
  uint64_t result = isOfAll ? parallel : parallel | ofExample;
  if (isOfAll)
    terms |= ofExample;
  uint64_t left = needsOf(product.getLhs(), examples) & result;
  uint64_t right = needsOf(product.getRhs(), examples) & result;
  return isLarge(left & ~right) && isLarge(right & ~left) && isLarge(terms);
}

/// The least terms, and results of each side, of a product that rounds its
/// factors. Lengths are unknown, and count as many.
static constexpr int64_t leastRounded = 16;

/// Whether a factor is an element of a parameter.
static bool isWeight(Value factor) {
  auto read = factor.getDefiningOp<ReadOp>();
  return read && read.getAlternatives().empty() && !read.getOtherwise() &&
         throughViews(read.getArray()).getDefiningOp<ParamOp>();
}

/// Whether the equation of `factor` finds its elements at indices, not at
/// places that it computes.
static bool isAtIndices(Value factor, ComputeOp op) {
  auto read = factor.getDefiningOp<ReadOp>();
  return !read || llvm::none_of(read.getIndices(), [&](Value index) {
    return classify(index, op).kind == AccessIndex::Computed;
  });
}

bool fovea::attn::isLargeProduct(ComputeOp op, const Examples &examples) {
  OrderAttr order = op.getOrderAttr();
  arith::MulFOp product = productIn(op);
  if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
      !order || !order.isChain() || !order.getFused() || !product ||
      op.getNumIndices() >= exampleBit)
    return false;
  uint64_t ofExample = uint64_t(1) << exampleBit;
  auto isLarge = [&](uint64_t indices) {
    int64_t size = indices & ofExample ? leastRounded : 1;
    for (unsigned index = 0; index < op.getNumIndices(); ++index)
      if (indices >> index & 1)
        size *=
            std::min(numberOf(op.getExtents()[index]).value_or(leastRounded),
                     leastRounded);
    return size >= leastRounded;
  };
  uint64_t parallel = (uint64_t(1) << op.getNumParallel()) - 1;
  uint64_t terms = (uint64_t(1) << op.getNumIndices()) - 1 - parallel;
  Value factors[] = {product.getLhs(), product.getRhs()};
  uint64_t needs[] = {needsOf(factors[0], examples),
                      needsOf(factors[1], examples)};
  if (!isAtIndices(factors[0], op) || !isAtIndices(factors[1], op))
    return false;
  if (examples.areBatched() && batchOf(op) == BatchKind::sum)
    return (needs[0] & needs[1] & ofExample) &&
           isLarge(needs[0] & ~needs[1] & parallel) &&
           isLarge(needs[1] & ~needs[0] & parallel);
  return llvm::any_of(llvm::seq(0, 2), [&](int side) {
    uint64_t ofWeight = needs[side], ofRow = needs[1 - side];
    return isWeight(factors[side]) && !(ofWeight & ofExample) &&
           (ofRow & ofExample) && isLarge(terms) &&
           isLarge(ofWeight & ~ofRow & parallel);
  });
}

/// Returns whether a cumulative reduction extends the reduction of the previous
/// place by one element: a search carries it.
static bool isRunning(ComputeOp op) {
  return llvm::any_of(guardsOf(op), [&](const Guard &guard) {
    return guard.lhs >= op.getNumParallel() &&
           guard.rhs < op.getNumParallel() &&
           op.getIndex(guard.rhs).use_empty();
  });
}

OrderAttr fovea::attn::orderOf(ComputeOp op, const Examples &examples,
                               const llvm::DenseSet<Attribute> &blocks) {
  if (isRunning(op) && !op.isNormaliser())
    return orderInSteps(op.getContext());
  int64_t lanes = isLikeMatrixProduct(op, examples) ? OrderAttr::chain
                                                    : bestPartialIndex(op);
  if (lanes >= 0 && blocks.contains(op.getExtents()[lanes]))
    lanes = OrderAttr::chain;
  bool isFused = op.getReducer() == Reducer::sum && productIn(op);
  return OrderAttr::get(op.getContext(), lanes, isFused);
}

OrderAttr fovea::attn::orderInSteps(MLIRContext *context) {
  return OrderAttr::get(context, OrderAttr::chain, /*fused=*/false);
}

OrderAttr fovea::attn::orderOfExtreme(ComputeOp op) {
  return OrderAttr::get(op.getContext(), bestPartialIndex(op), /*fused=*/false);
}

OrderAttr fovea::attn::withoutFusing(OrderAttr order) {
  return OrderAttr::get(order.getContext(), order.getLanes(), /*fused=*/false);
}
