//===- Conditions.cpp - builds conditions inside bodies -------------------===//

#include "dialect/conditions/Conditions.h"
#include "dialect/conditions/IndexEquations.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fovea::attn;

Value fovea::attn::inlineRegion(OpBuilder &builder, Region &region,
                                ValueRange at) {
  IRMapping values;
  values.map(region.getArguments(), at);
  for (Operation &scalar : region.front().without_terminator())
    builder.clone(scalar, values);
  return values.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

bool fovea::attn::readsArrays(Region &region) {
  return region.walk([](ReadOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

Value fovea::attn::openCondition(ComputeOp op) {
  Region &region = op.getCondition();
  if (region.empty()) {
    SmallVector<Type> types(op.getNumIndices(),
                            IndexType::get(op.getContext()));
    SmallVector<Location> locs(op.getNumIndices(), op.getLoc());
    region.emplaceBlock().addArguments(types, locs);
    return {};
  }
  Operation *yield = region.front().getTerminator();
  Value before = yield->getOperand(0);
  yield->erase();
  return before;
}

void Conjunction::require(Value condition) {
  current = current ? arith::AndIOp::create(builder, loc, current, condition)
                    : condition;
}

void Conjunction::guardRest() {
  if (!current)
    return;
  auto choice = scf::IfOp::create(builder, loc, TypeRange{builder.getI1Type()},
                                  current, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  open.push_back(choice);
  builder.setInsertionPointToStart(choice.thenBlock());
  current = Value();
}

Value Conjunction::finish() {
  auto truth = [&](bool value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value));
  };
  Value result = current ? current : truth(true);
  for (scf::IfOp choice : llvm::reverse(open)) {
    scf::YieldOp::create(builder, loc, result);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, truth(false));
    builder.setInsertionPointAfter(choice);
    result = choice.getResult(0);
  }
  open.clear();
  return current = result;
}

static auto pairsOf(ReadOp read, unsigned number) {
  return cast<ArrayAttr>((*read.getPlaces())[number]).getAsRange<ArrayAttr>();
}

static int64_t axisOf(ArrayAttr pair) {
  return cast<IntegerAttr>(pair[0]).getInt();
}

Value fovea::attn::atPlaces(OpBuilder &builder, ReadOp read, unsigned number,
                            ArrayRef<Value> indices) {
  Location loc = read.getLoc();
  Conjunction all(builder, loc);
  for (ArrayAttr pair : pairsOf(read, number))
    all.require(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, indices[axisOf(pair)],
        extentValue(builder, loc, pair[1], Value())));
  return all.finish();
}

bool fovea::attn::isOutside(ReadOp read, unsigned number) {
  return llvm::any_of(pairsOf(read, number), [&](ArrayAttr pair) {
    Attribute extent = read.getArrayType().getExtent(axisOf(pair));
    if (pair[1] == extent)
      return true;
    auto place = dyn_cast<IntegerAttr>(pair[1]);
    auto size = dyn_cast<IntegerAttr>(extent);
    return place &&
           (place.getInt() < 0 || (size && place.getInt() >= size.getInt()));
  });
}

SmallVector<Value> fovea::attn::withoutPlaced(ReadOp read, unsigned number,
                                              ArrayRef<Value> indices) {
  llvm::DenseSet<int64_t> placed;
  for (ArrayAttr pair : pairsOf(read, number))
    placed.insert(axisOf(pair));
  SmallVector<Value> rest;
  for (auto [axis, index] : llvm::enumerate(indices))
    if (!placed.contains(axis))
      rest.push_back(index);
  return rest;
}

namespace {
/// `argument + shift`, where `argument` is an index of a compute.
struct ShiftedIndex {
  BlockArgument argument;
  ComputeOp compute;
  int64_t shift = 0;
};
} // namespace

static std::optional<ShiftedIndex> shiftedIndex(Value index) {
  // Far from what 64 bits hold.
  constexpr int64_t most = int64_t(1) << 40;
  ShiftedIndex result;
  while (Operation *op = index.getDefiningOp()) {
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return std::nullopt;
    std::optional<int64_t> constant = getConstantIntValue(op->getOperand(1));
    if (!constant || std::abs(*constant) > most ||
        std::abs(result.shift) > most)
      return std::nullopt;
    result.shift += isa<arith::AddIOp>(op) ? *constant : -*constant;
    index = op->getOperand(0);
  }
  result.argument = cast<BlockArgument>(index);
  result.compute =
      dyn_cast<ComputeOp>(result.argument.getOwner()->getParentOp());
  return result.compute ? std::optional(result) : std::nullopt;
}

/// Returns whether an index is at least 0 wherever it is evaluated.
static bool isNeverBelow(Value index) {
  auto shifted = shiftedIndex(index);
  return shifted &&
         shifted->compute.getLower()[shifted->argument.getArgNumber()] +
                 shifted->shift >=
             0;
}

/// Returns whether an index is below an extent that is not nested.
static bool isNeverAbove(Value index, Attribute extent) {
  auto shifted = shiftedIndex(index);
  if (!shifted)
    return false;
  Attribute range = shifted->compute.getExtents()
                        .getValue()[shifted->argument.getArgNumber()];
  auto number = dyn_cast<IntegerAttr>(range);
  auto size = dyn_cast<IntegerAttr>(extent);
  if (number && size)
    return shifted->shift <= size.getInt() - number.getInt();
  return range == extent && shifted->shift <= 0;
}

void fovea::attn::requireInside(OpBuilder &builder, Location loc,
                                ComputeOp compute, ArrayRef<Attribute> extents,
                                ArrayRef<Value> indices, Conjunction &inside) {
  Lengths lengths(compute);
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    if (!isNeverBelow(indices[axis])) {
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      inside.require(arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::sge, indices[axis], zero));
    }
    Value parent;
    std::optional<unsigned> above = lengths.parentIndex(extents, axis);
    if (!above && isNeverAbove(indices[axis], extent))
      continue;
    if (above) {
      // A nested length exists only where its parent's index does.
      inside.guardRest();
      parent = indices[*above];
    }
    inside.require(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, indices[axis],
        extentValue(builder, loc, extent, parent)));
  }
}
