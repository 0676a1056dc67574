//===- FactorProducts.cpp - matrix products inside longer sums --------===//

#include "passes/Passes.h"
#include "passes/analysis/Batch.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FACTORPRODUCTS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Smaller products cost more than they save.
static constexpr int64_t leastFactoredTerms = 8;

static bool isWorthFactoring(Attribute extent) {
  auto number = dyn_cast<IntegerAttr>(extent);
  return number && number.getInt() >= leastFactoredTerms;
}

/// Returns whether `value` depends on `index`, inside a body or condition.
static bool dependsOn(Value value, BlockArgument index) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == index.getOwner();
  };
  (void)getBackwardSlice(value, &slice, options);
  return value == index || llvm::any_of(slice, [&](Operation *op) {
           return llvm::is_contained(op->getOperands(), index);
         });
}

namespace {
/// sum[term, tap](array[.., term] * weights[tap, term]), where the places of
/// `array` follow from `tap` and others.
struct Factored {
  ReadOp array, weights;
  unsigned term, tap;
};
} // namespace

static std::optional<Factored> match(ComputeOp op, ReadOp array,
                                     ReadOp weights) {
  if (!array || !weights || !isPerExample(array.getArray()) ||
      isPerExample(weights.getArray()) || weights.getIndices().size() != 2 ||
      array.getIndices().size() < 2)
    return std::nullopt;
  for (ReadOp read : {array, weights})
    if (!read.getAlternatives().empty() || read.getOtherwise())
      return std::nullopt;
  auto numberOf = [&](Value value) -> std::optional<unsigned> {
    auto index = dyn_cast<BlockArgument>(value);
    if (!index || index.getOwner() != &op.getBody().front() ||
        index.getArgNumber() < op.getNumParallel() ||
        op.getLower()[index.getArgNumber()] != 0 ||
        !isWorthFactoring(op.getExtents()[index.getArgNumber()]))
      return std::nullopt;
    return index.getArgNumber();
  };
  std::optional<unsigned> term = numberOf(array.getIndices().back());
  std::optional<unsigned> first = numberOf(weights.getIndices()[0]);
  std::optional<unsigned> second = numberOf(weights.getIndices()[1]);
  if (!term || !first || !second || *first == *second ||
      (*term != *first && *term != *second))
    return std::nullopt;
  unsigned tap = *term == *first ? *second : *first;
  bool readsTap = false;
  for (Value index : array.getIndices().drop_back()) {
    if (dependsOn(index, op.getIndex(*term)))
      return std::nullopt;
    readsTap |= dependsOn(index, op.getIndex(tap));
  }
  if (!readsTap)
    return std::nullopt;
  if (op.hasCondition()) {
    Block &condition = op.getCondition().front();
    if (dependsOn(condition.getTerminator()->getOperand(0),
                  condition.getArgument(*term)))
      return std::nullopt;
  }
  return Factored{array, weights, *term, tap};
}

/// products[.., tap] = sum[term](array[.., term] * weights[tap, term]), at
/// every place of the array.
static ComputeOp makeProducts(ComputeOp op, Factored found) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  ArrayRef<Attribute> places =
      found.array.getArrayType().getShape().getValue().drop_back();
  SmallVector<Attribute> names, extents(places);
  for (size_t axis = 0; axis < places.size(); ++axis)
    names.push_back(builder.getStringAttr("j" + Twine(axis)));
  for (unsigned index : {found.tap, found.term}) {
    names.push_back(op.getIndices()[index]);
    extents.push_back(op.getExtents()[index]);
  }
  auto products = ComputeOp::create(builder, loc, op.getLabel().value_or(""),
                                    names, extents, {}, places.size() + 1,
                                    Reducer::sum, op.getElementType());
  setBatch(products, batchOf(op));
  builder.setInsertionPointToEnd(&products.getBody().front());
  Value tap = products.getIndex(places.size());
  Value term = products.getIndex(places.size() + 1);
  SmallVector<Value> atArray, atWeights;
  for (size_t axis = 0; axis < places.size(); ++axis)
    atArray.push_back(products.getIndex(axis));
  atArray.push_back(term);
  for (Value index : found.weights.getIndices())
    atWeights.push_back(index == op.getIndex(found.term) ? term : tap);
  Value x = ReadOp::create(builder, loc, found.array.getArray(), atArray);
  Value w = ReadOp::create(builder, loc, found.weights.getArray(), atWeights);
  YieldOp::create(builder, loc,
                  arith::MulFOp::create(builder, loc, x, w).getResult());
  return products;
}

/// The sum over the taps, without `term`.
static ComputeOp makeSum(ComputeOp op, Factored found, ComputeOp products) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Attribute> names(op.getIndices().getValue());
  SmallVector<Attribute> extents(op.getExtents().getValue());
  SmallVector<int64_t> lower(op.getLower());
  names.erase(names.begin() + found.term);
  extents.erase(extents.begin() + found.term);
  lower.erase(lower.begin() + found.term);
  auto sum =
      ComputeOp::create(builder, loc, op.getLabel().value_or(""), names,
                        extents, lower, op.getNumParallel(), Reducer::sum,
                        op.getElementType(), op.hasCondition());
  setBatch(sum, batchOf(op));
  auto cloneInto = [&](Region &from, Region &to, IRMapping &mapping) {
    Block &block = to.front();
    for (BlockArgument index : from.getArguments())
      if (unsigned number = index.getArgNumber(); number != found.term)
        mapping.map(index, block.getArgument(number - (number > found.term)));
    builder.setInsertionPointToEnd(&block);
    for (Operation &inner : from.front()) {
      bool isReplaced = &inner == found.array || &inner == found.weights ||
                        &inner == op.getYielded().getDefiningOp() ||
                        &inner == from.front().getTerminator();
      if (&from == &op.getCondition() || !isReplaced)
        builder.clone(inner, mapping);
    }
  };
  IRMapping mapping;
  if (op.hasCondition())
    cloneInto(op.getCondition(), sum.getCondition(), mapping);
  cloneInto(op.getBody(), sum.getBody(), mapping);
  SmallVector<Value> at;
  for (Value index : found.array.getIndices().drop_back())
    at.push_back(mapping.lookupOrDefault(index));
  at.push_back(mapping.lookup(op.getIndex(found.tap)));
  Value value = ReadOp::create(builder, loc, products, at);
  YieldOp::create(builder, loc, value);
  return sum;
}

namespace {
struct FactorProducts : fovea::attn::impl::FactorProductsBase<FactorProducts> {
  void factor(ComputeOp op) {
    // Only derivatives, which have no order yet.
    if (op.getReducer() != Reducer::sum || batchOf(op) != BatchKind::each ||
        op.getNumParallel() == 0 || op.getOrderAttr())
      return;
    auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
    if (!product)
      return;
    auto lhs = product.getLhs().getDefiningOp<ReadOp>();
    auto rhs = product.getRhs().getDefiningOp<ReadOp>();
    std::optional<Factored> found = match(op, lhs, rhs);
    if (!found)
      found = match(op, rhs, lhs);
    if (!found)
      return;
    ComputeOp products = makeProducts(op, *found);
    op.getResult().replaceAllUsesWith(
        makeSum(op, *found, products).getResult());
    op.erase();
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    SmallVector<ComputeOp> ops;
    for (auto program : getOperation().getOps<ProgramOp>())
      program.walk([&](ComputeOp op) { ops.push_back(op); });
    for (ComputeOp op : ops)
      factor(op);
  }
};
} // namespace
