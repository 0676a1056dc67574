//===- PadWindows.cpp - convolutions read arrays that are long enough -----===//
//
// A sum over a window, sum[r](w[r] * (a[i+r-c] ?? 0)), checks at every term
// whether the window is inside the array. Instead, the array is padded once, to
// the length of all windows. The result has the window places last, whose
// neighbours read neighbours.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "dialect/conditions/LinearForm.h"
#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/GatheredProduct.h"

#include "mlir/IR/IRMapping.h"
#include "passes/analysis/Equations.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_PADWINDOWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Below this size, a padded array does not pay off.
static constexpr int64_t leastTaps = 8;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

namespace {
/// A read along a window: axis `axis` is at along + sign * tap + offset.
struct Window {
  ReadOp read;
  unsigned axis, along, tap;
  int64_t sign, offset;
  /// The extent of the padded axis. Its place 0 is `first` of the array.
  Attribute extent;
  int64_t first = 0;
  /// Conditions on the window, which become those of the padded array.
  SmallVector<arith::CmpIOp> bounds;
  /// The rest of the condition.
  SmallVector<Value> others;
  /// Other indices of the padded array.
  SmallVector<unsigned> free;
};
} // namespace

static ComputeOp ownerOf(BlockArgument index) {
  return dyn_cast<ComputeOp>(index.getOwner()->getParentOp());
}

/// The indices of `op` that a value of its body or condition depends on.
static llvm::SmallBitVector indicesOf(Value value, ComputeOp op) {
  llvm::SmallBitVector found(op.getNumIndices());
  SmallVector<Value> list = {value};
  while (!list.empty()) {
    Value next = list.pop_back_val();
    if (auto index = dyn_cast<BlockArgument>(next)) {
      if (ownerOf(index) == op)
        found.set(index.getArgNumber());
    } else if (op->isProperAncestor(next.getDefiningOp())) {
      llvm::append_range(list, next.getDefiningOp()->getOperands());
    }
  }
  return found;
}

/// The only two indices of a sum, if one is added and the other added or
/// subtracted.
static bool findWindow(const LinearForm &sum, ComputeOp op, Window &window) {
  if (sum.terms.size() != 2)
    return false;
  auto along = cast<BlockArgument>(sum.terms.front().first);
  auto tap = cast<BlockArgument>(sum.terms.back().first);
  auto isParallel = [&](BlockArgument index) {
    return index.getArgNumber() < op.getNumParallel();
  };
  if (isParallel(along) == isParallel(tap))
    return false;
  if (!isParallel(along))
    std::swap(along, tap);
  window.along = along.getArgNumber();
  window.tap = tap.getArgNumber();
  window.sign = sum.factorOf(tap);
  window.offset = sum.constant;
  return sum.factorOf(along) == 1 && std::abs(window.sign) == 1 &&
         op.getLower()[window.along] == 0 && op.getLower()[window.tap] == 0;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The other factor exists wherever the window is.
static bool isTotal(ReadOp read, ComputeOp op) {
  return read.getAlternatives().empty() && !read.getOtherwise() &&
         llvm::all_of(read.getIndices(), [&](Value index) {
           AccessIndex at = classify(index, op);
           return at.kind == AccessIndex::Iterator && at.offset == 0 &&
                  op.getLower()[at.iterator] == 0;
         });
}

/// Sorts the conjuncts of the condition: those on the window, which bound it,
/// and all others. Returns false if another conjunct involves both indices.
static bool sortCondition(ComputeOp op, Window &window) {
  if (!op.hasCondition())
    return true;
  Value condition = op.getCondition().front().getTerminator()->getOperand(0);
  for (Value part : conjunctsOf(condition)) {
    llvm::SmallBitVector used = indicesOf(part, op);
    if (!used[window.along] || !used[window.tap]) {
      window.others.push_back(part);
      continue;
    }
    auto compare = part.getDefiningOp<arith::CmpIOp>();
    if (!compare || !compare.getLhs().getType().isIndex())
      return false;
    std::optional<LinearForm> left =
        LinearForm::ofIndices(compare.getLhs(), op);
    Window own;
    if (!left || !findWindow(*left, op, own) || own.along != window.along ||
        own.tap != window.tap || own.sign != window.sign ||
        indicesOf(compare.getRhs(), op).any())
      return false;
    window.bounds.push_back(compare);
  }
  return true;
}

/// `extent` and `more` places; null where it varies inside of an example, or is
/// not known ahead of it.
static Attribute longer(Attribute extent, int64_t more, ProgramOp program) {
  OpBuilder builder(program.getContext());
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return builder.getI64IntegerAttr(number.getInt() + more);
  if (variesInside(extent, program))
    return {};
  auto length = cast<StringAttr>(extent);
  auto name =
      builder.getStringAttr(length.getValue() + "+" + std::to_string(more));
  LengthOp last;
  for (auto other : program.getOps<LengthOp>()) {
    if (other.getLengthAttr() == name)
      return name;
    // A search does not know yet how long its results are.
    if (other.getLengthAttr() == length && other.getOpen())
      return {};
    last = other;
  }
  builder.setInsertionPointAfter(last);
  LengthOp::create(builder, last.getLoc(), name, StringAttr(),
                   AffineMapAttr::get(AffineMap::get(
                       0, 1, builder.getAffineSymbolExpr(0) + more)),
                   builder.getArrayAttr(extent), UnitAttr(), UnitAttr());
  return name;
}

/// The window around `read`, a factor of the terms of `op`.
static std::optional<Window> match(ComputeOp op, ReadOp read, ReadOp other) {
  if (!read || !other || !isTotal(other, op) ||
      read->getBlock() != &op.getBody().front())
    return std::nullopt;
  Window window;
  window.read = read;
  bool isFound = false;
  llvm::SmallBitVector free(op.getNumIndices());
  for (auto [axis, index] : llvm::enumerate(read.getIndices())) {
    std::optional<LinearForm> sum = LinearForm::ofIndices(index, op);
    if (!isFound && sum && findWindow(*sum, op, window)) {
      window.axis = axis;
      isFound = true;
    } else {
      free |= indicesOf(index, op);
    }
  }
  if (!isFound || !sortCondition(op, window))
    return std::nullopt;
  Value otherwise = read.getOtherwise();
  if (otherwise)
    free |= indicesOf(otherwise, op);
  else if (window.bounds.empty())
    return std::nullopt;
  if (free[window.along] || free[window.tap])
    return std::nullopt;
  for (unsigned index : free.set_bits()) {
    if (op.getLower()[index] != 0 ||
        !isa<IntegerAttr, StringAttr>(op.getExtents()[index]) ||
        variesInside(op.getExtents()[index], op->getParentOfType<ProgramOp>()))
      return std::nullopt;
    window.free.push_back(index);
  }
  Attribute taps = op.getExtents()[window.tap];
  Attribute places = op.getExtents()[window.along];
  if (window.sign > 0 && !isa<IntegerAttr>(taps))
    std::swap(taps, places);
  auto number = dyn_cast<IntegerAttr>(taps);
  if (!number || number.getInt() < leastTaps)
    return std::nullopt;
  window.extent =
      longer(places, number.getInt() - 1, op->getParentOfType<ProgramOp>());
  if (!window.extent)
    return std::nullopt;
  window.first = window.offset - (window.sign < 0 ? number.getInt() - 1 : 0);
  return window;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Clones the ops that `value` depends on inside of an op.
static Value cloneValue(OpBuilder &builder, Value value, ComputeOp op,
                        IRMapping &mapping) {
  Operation *source = value.getDefiningOp();
  if (mapping.contains(value) || !source || !op->isProperAncestor(source))
    return mapping.lookupOrDefault(value);
  for (Value operand : source->getOperands())
    cloneValue(builder, operand, op, mapping);
  builder.clone(*source, mapping);
  return mapping.lookup(value);
}

/// padded[free.., j] = the element of the array at `first` + j, or zero, or the
/// default, outside.
static ComputeOp makePadded(ComputeOp op, Window &window) {
  OpBuilder builder(op);
  Location loc = window.read.getLoc();
  SmallVector<Attribute> names, extents;
  for (unsigned index : window.free) {
    names.push_back(op.getIndices()[index]);
    extents.push_back(op.getExtents()[index]);
  }
  names.push_back(builder.getStringAttr("j"));
  extents.push_back(window.extent);
  SmallVector<Value> conditions;
  for (Value other : window.others) {
    llvm::SmallBitVector used = indicesOf(other, op);
    for (unsigned index : window.free)
      used.reset(index);
    if (used.none())
      conditions.push_back(other);
  }
  bool hasCondition = !conditions.empty() || !window.bounds.empty();
  auto padded =
      ComputeOp::create(builder, loc, "", names, extents, {}, names.size(),
                        Reducer::none, op.getElementType(), hasCondition);
  bool isOnce = batchOf(op) == BatchKind::once;
  setBatch(padded, isOnce ? BatchKind::once : BatchKind::each);
  auto mapIndices = [&](Region &from, Region &to, IRMapping &mapping) {
    for (auto [place, index] : llvm::enumerate(window.free))
      mapping.map(from.getArgument(index), to.getArgument(place));
  };
  auto at = [&](Region &to, int64_t first) -> Value {
    Value number = arith::ConstantIndexOp::create(builder, loc, first);
    return arith::AddIOp::create(builder, loc, to.getArguments().back(),
                                 number);
  };
  if (hasCondition) {
    Region &from = op.getCondition(), &to = padded.getCondition();
    builder.setInsertionPointToEnd(&to.front());
    IRMapping mapping;
    mapIndices(from, to, mapping);
    Conjunction all(builder, loc);
    for (Value other : conditions)
      all.require(cloneValue(builder, other, op, mapping));
    for (arith::CmpIOp bound : window.bounds) {
      int64_t offset = LinearForm::ofIndices(bound.getLhs(), op)->constant;
      Value left = at(to, window.first + offset - window.offset);
      Value right = cloneValue(builder, bound.getRhs(), op, mapping);
      all.require(arith::CmpIOp::create(builder, loc, bound.getPredicate(),
                                        left, right));
    }
    YieldOp::create(builder, loc, all.finish());
  }
  Region &from = op.getBody(), &to = padded.getBody();
  builder.setInsertionPointToEnd(&to.front());
  IRMapping mapping;
  mapIndices(from, to, mapping);
  ReadOp read = window.read;
  for (auto [axis, index] : llvm::enumerate(read.getIndices()))
    if (axis != window.axis)
      cloneValue(builder, index, op, mapping);
  if (Value otherwise = read.getOtherwise())
    cloneValue(builder, otherwise, op, mapping);
  // An index may appear on several axes, except the window's.
  Value index = at(to, window.first);
  auto copy = cast<ReadOp>(builder.clone(*read, mapping));
  copy.getIndicesMutable()[window.axis].assign(index);
  YieldOp::create(builder, loc, copy.getResult());
  return padded;
}

/// The sum over padded windows. Its last parallel index is the index of their
/// places.
static ComputeOp makeSum(ComputeOp op, Window &window, ComputeOp padded) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<unsigned> order;
  for (unsigned index = 0; index < op.getNumIndices(); ++index) {
    if (index == op.getNumParallel())
      order.push_back(window.along);
    if (index != window.along)
      order.push_back(index);
  }
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  for (unsigned index : order) {
    names.push_back(op.getIndices()[index]);
    extents.push_back(op.getExtents()[index]);
    lower.push_back(op.getLower()[index]);
  }
  auto sum =
      ComputeOp::create(builder, loc, op.getLabel().value_or(""), names,
                        extents, lower, op.getNumParallel(), Reducer::sum,
                        op.getElementType(), !window.others.empty());
  sum.setOrderAttr(orderOver(op, order, op.getNumParallel()));
  sum->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  auto mapIndices = [&](Region &from, Region &to, IRMapping &mapping) {
    for (auto [place, index] : llvm::enumerate(order))
      mapping.map(from.getArgument(index), to.getArgument(place));
  };
  if (!window.others.empty()) {
    Region &from = op.getCondition(), &to = sum.getCondition();
    builder.setInsertionPointToEnd(&to.front());
    IRMapping mapping;
    mapIndices(from, to, mapping);
    Conjunction all(builder, loc);
    for (Value other : window.others)
      all.require(cloneValue(builder, other, op, mapping));
    YieldOp::create(builder, loc, all.finish());
  }
  Region &from = op.getBody(), &to = sum.getBody();
  builder.setInsertionPointToEnd(&to.front());
  IRMapping mapping;
  mapIndices(from, to, mapping);
  Value along = mapping.lookup(from.getArgument(window.along));
  Value tap = mapping.lookup(from.getArgument(window.tap));
  Value place;
  if (window.sign > 0) {
    place = arith::AddIOp::create(builder, loc, along, tap);
  } else {
    int64_t taps = cast<IntegerAttr>(op.getExtents()[window.tap]).getInt();
    Value last = arith::ConstantIndexOp::create(builder, loc, taps - 1);
    place = arith::AddIOp::create(builder, loc, along, last);
    place = arith::SubIOp::create(builder, loc, place, tap);
  }
  SmallVector<Value> at;
  for (unsigned index : window.free)
    at.push_back(mapping.lookup(from.getArgument(index)));
  at.push_back(place);
  Value element = ReadOp::create(builder, loc, padded, at);
  mapping.map(window.read.getResult(), element);
  Value result = cloneValue(builder, op.getYielded(), op, mapping);
  YieldOp::create(builder, loc, result);
  return sum;
}

/// The same array with the indices in the order of `op`.
static Value inOrder(ComputeOp op, Window &window, ComputeOp sum) {
  if (window.along + 1 == op.getNumParallel())
    return sum.getResult();
  OpBuilder builder(op);
  unsigned rank = op.getNumParallel();
  auto turned =
      ComputeOp::create(builder, op.getLoc(), op.getLabel().value_or(""),
                        op.getIndices().getValue().take_front(rank),
                        op.getExtents().getValue().take_front(rank), {}, rank,
                        Reducer::none, op.getElementType());
  turned->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (batchOf(op) == BatchKind::sum)
    setBatch(turned, BatchKind::once);
  builder.setInsertionPointToEnd(&turned.getBody().front());
  SmallVector<Value> at;
  for (unsigned index = 0; index < rank; ++index)
    if (index != window.along)
      at.push_back(turned.getIndex(index));
  at.push_back(turned.getIndex(window.along));
  Value element = ReadOp::create(builder, op.getLoc(), sum, at);
  YieldOp::create(builder, op.getLoc(), element);
  return turned.getResult();
}

namespace {
struct PadWindows : fovea::attn::impl::PadWindowsBase<PadWindows> {
  void pad(ComputeOp op) {
    auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
    if (op.getReducer() != Reducer::sum || !product ||
        op.getNumParallel() == 0 || gatheredProduct(op))
      return;
    auto lhs = product.getLhs().getDefiningOp<ReadOp>();
    auto rhs = product.getRhs().getDefiningOp<ReadOp>();
    std::optional<Window> window = match(op, lhs, rhs);
    if (!window)
      window = match(op, rhs, lhs);
    if (!window)
      return;
    ComputeOp sum = makeSum(op, *window, makePadded(op, *window));
    op.getResult().replaceAllUsesWith(inOrder(op, *window, sum));
    op.erase();
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    SmallVector<ComputeOp> ops;
    for (auto program : getOperation().getOps<ProgramOp>())
      program.walk([&](ComputeOp op) { ops.push_back(op); });
    for (ComputeOp op : ops)
      pad(op);
  }
};
} // namespace
