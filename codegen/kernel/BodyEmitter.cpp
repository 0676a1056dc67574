//===- BodyEmitter.cpp - the scalars of a body as scalars or vectors ------===//
//
// Indices, lengths, scalars and branches of a body; Reads.cpp has its reads.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/BodyEmitter.h"
#include "codegen/kernel/StoredReals.h"
#include "dialect/ArrayLocations.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/VectorIndex.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Index BodyEmitter::indexOf(Value value) {
  if (auto known = indexValues.find(value); known != indexValues.end())
    return known->second;
  // The index of an enclosing loop.
  auto step = place.steps.find(value);
  assert(step != place.steps.end() && "an index of the op or of a loop");
  return {step->second};
}

Value BodyEmitter::materialise(const Index &index) {
  if (index.step == 0)
    return index.base;
  Value lane = builder.lane(lanes);
  if (index.step != 1)
    lane = builder.create<arith::MulIOp>(
        lane, builder.splat(builder.number(index.step), lanes));
  return builder.create<arith::AddIOp>(builder.splat(index.base, lanes), lane);
}

Value BodyEmitter::valueOf(Value value) {
  if (value.getType().isIndex())
    return materialise(indexOf(value));
  auto found = values.find(value);
  assert(found != values.end() && "a body is emitted in order");
  return found->second;
}

/// Index arithmetic preserves the known relation between lanes. Returns false
/// for values that must be computed lane by lane.
bool BodyEmitter::emitIndexArithmetic(Operation &op) {
  if (op.getNumResults() != 1 || !op.getResult(0).getType().isIndex())
    return false;
  Value result = op.getResult(0);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto slot = constant->getAttrOfType<IntegerAttr>(placeSlotName)) {
      int number = static_cast<int>(slot.getInt());
      indexValues[result] = {builder.slot(place.frame, number)};
      return true;
    }
    indexValues[result] = {
        builder.number(cast<IntegerAttr>(constant.getValue()).getInt())};
    return true;
  }
  if (auto extentOp = dyn_cast<ExtentOp>(op)) {
    StringAttr name = extentOp.getLengthAttr();
    if (extentOp.getLargest()) {
      indexValues[result] = {extent(name)};
      return true;
    }
    Value parent;
    if (extentOp.getParent()) {
      parent = valueOf(extentOp.getParent());
      if (lanesOf(parent)) {
        indexValues[result] = {nestedLengths(
            storage.length(extentOp.getLength()), parent, nullptr)};
        return true;
      }
    }
    indexValues[result] = {extent(builder.getStringAttr(extentOp.getLength()),
                                  [&](StringRef) { return parent; })};
    return true;
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    indexValues[result] = {valueOf(op.getOperand(0))};
    return true;
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    Index a = indexOf(op.getOperand(0)), b = indexOf(op.getOperand(1));
    bool isVector = lanesOf(a.base) || lanesOf(b.base);
    if (!isVector && isa<arith::AddIOp>(op)) {
      indexValues[result] = {builder.add(a.base, b.base), a.step + b.step};
      return true;
    }
    if (!isVector && isa<arith::SubIOp>(op)) {
      indexValues[result] = {builder.sub(a.base, b.base), a.step - b.step};
      return true;
    }
    if (a.isUniform() && b.isUniform()) {
      indexValues[result] = {builder.mul(a.base, b.base)};
      return true;
    }
    auto number = [](Index index) -> std::optional<int64_t> {
      auto op = index.base.getDefiningOp<arith::ConstantOp>();
      auto value = op ? dyn_cast<IntegerAttr>(op.getValue()) : IntegerAttr();
      return index.isUniform() && value ? std::optional(value.getInt())
                                        : std::nullopt;
    };
    for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
      if (std::optional<int64_t> factor = number(y);
          factor && !isVector && isa<arith::MulIOp>(op)) {
        indexValues[result] = {builder.mul(x.base, y.base), x.step * *factor};
        return true;
      }
  }
  // Any other op, on whole numbers instead of indices.
  emitScalar(op);
  indexValues[result] = {values.lookup(result)};
  values.erase(result);
  return true;
}

Value BodyEmitter::parentStep(StringRef length) {
  Value result;
  size_t depth = 0;
  for (auto [argument, step] : place.steps) {
    Operation *loop = argument.getDefiningOp();
    if (!loop)
      loop = cast<BlockArgument>(argument).getOwner()->getParentOp();
    auto name = loop->getAttrOfType<StringAttr>("extent");
    size_t own = storage.around(loop).size() + 1;
    if (name && name.getValue() == length && own > depth) {
      result = step;
      depth = own;
    }
  }
  return result;
}

/// The values of a nested length at a parent in each lane, where `active`
/// holds: a table like any other.
Value BodyEmitter::nestedLengths(const runtime::Program::Length &length,
                                 Value parent, Value active) {
  auto type = cast<VectorType>(withLanes(builder.getI64Type(), lanes));
  Value table = builder.at(builder.getI64Type(),
                           builder.pointerSlot(place.frame, length.valuesSlot),
                           startOfParent(length));
  active = builder.both(active, builder.both(tail, guard));
  return builder.gather(type, table, parent,
                        active ? builder.splat(active, lanes) : Value());
}

/// The start of a nested length's values for the current example.
Value BodyEmitter::startOfParent(const runtime::Program::Length &length) {
  if (length.parentLayout < 0)
    return builder.mul(place.example, builder.number(length.parentExtent));
  return builder.entry(place.frame, storage.slotOfLayout(length.parentLayout),
                       place.example);
}

Value BodyEmitter::extent(Attribute extent,
                          llvm::function_ref<Value(StringRef)> parentOf) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return builder.number(number.getInt());
  const auto &length = storage.length(cast<StringAttr>(extent).getValue());
  if (!length.parent.empty() && parentOf) {
    Value parent = parentOf(length.parent);
    if (!parent)
      parent = parentStep(length.parent);
    if (parent)
      return builder.entry(place.frame, length.valuesSlot,
                           builder.add(startOfParent(length), parent));
  }
  return builder.entry(place.frame, length.slot, place.example);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// 0 if a real number has no 64-bit integer part.
static Value insideWhole(KernelBuilder &builder, Value x) {
  constexpr double limit = 9223372036854775808.0; // 2^63
  Type type = x.getType();
  Value above = builder.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x,
                                              builder.constant(type, -limit));
  Value below = builder.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x,
                                              builder.constant(type, limit));
  return builder.select(builder.both(above, below), x,
                        builder.constant(type, 0));
}

/// x // n of whole numbers, rounded down, for any n: 0 gives 0, and the
/// quotient by -1 wraps. Processors trap on both.
static Value divideAny(KernelBuilder &builder, Value x, Value n) {
  auto whole = [&](int64_t number) {
    return builder.splat(builder.number(number), lanesOf(n));
  };
  Value isZero = builder.compare(CmpIPredicate::eq, n, whole(0));
  Value isMinusOne = builder.compare(CmpIPredicate::eq, n, whole(-1));
  Value divisor =
      builder.select(builder.either(isZero, isMinusOne), whole(1), n);
  Value quotient = builder.create<arith::FloorDivSIOp>(x, divisor);
  Value negative = builder.create<arith::SubIOp>(whole(0), x);
  return builder.select(isZero, whole(0),
                        builder.select(isMinusOne, negative, quotient));
}

/// Returns whether a divisor is a constant that is safe for every dividend.
static bool isSafeDivisor(Value n) {
  APInt number;
  return matchPattern(n, m_ConstantInt(&number)) && !number.isZero() &&
         !number.isAllOnes();
}

/// The op on scalars or vectors, like its operands.
void BodyEmitter::emitScalar(Operation &op) {
  SmallVector<Value> operands;
  unsigned width = 0;
  for (Value operand : op.getOperands()) {
    operands.push_back(valueOf(operand));
    width = std::max(width, lanesOf(operands.back()));
  }
  // Processors differ on reals outside the integer range.
  if (isa<arith::FPToSIOp>(op))
    operands[0] = insideWhole(builder, operands[0]);
  bool isSelect = isa<arith::SelectOp>(op);
  for (auto [i, operand] : llvm::enumerate(operands))
    if (!isSelect || i != 0 || lanesOf(operand))
      operand = builder.splat(operand, width);
  if (isa<arith::FloorDivSIOp>(op) && !isSafeDivisor(op.getOperand(1))) {
    values[op.getResult(0)] = divideAny(builder, operands[0], operands[1]);
    return;
  }
  Type type = op.getResult(0).getType();
  if (type.isIndex())
    type = builder.getI64Type();
  type = withLanes(storage.elementOf(type), width);
  OperationState state(builder.getLoc(), op.getName());
  state.addOperands(operands);
  state.addTypes(type);
  state.attributes = op.getDiscardableAttrDictionary();
  state.propertiesAttr = op.getPropertiesAsAttribute();
  values[op.getResult(0)] = builder.create(state)->getResult(0);
}

void BodyEmitter::emitIf(scf::IfOp op) {
  Value condition = valueOf(op.getCondition());
  auto emitBranch = [&](Block *block) {
    emitBlock(*block, block->getTerminator());
    SmallVector<Value> results;
    for (Value value : block->getTerminator()->getOperands())
      results.push_back(valueOf(value));
    return results;
  };
  auto give = [&](unsigned number, Value value) {
    Value result = op.getResult(number);
    if (result.getType().isIndex())
      indexValues[result] = {value};
    else
      values[result] = value;
  };
  if (!lanesOf(condition) && !guard) {
    // One branch or the other, for all lanes.
    SmallVector<Value> results = builder.chooseAll(
        condition, [&] { return emitBranch(op.thenBlock()); },
        [&] { return emitBranch(op.elseBlock()); });
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      give(i, results[i]);
    return;
  }
  // Both, each for its own lanes.
  Value wide = builder.splat(condition, lanes);
  SmallVector<Value> thenValues, elseValues;
  {
    llvm::SaveAndRestore guarded(guard, builder.both(guard, wide));
    thenValues = emitBranch(op.thenBlock());
  }
  Value opposite = builder.create<arith::XOrIOp>(
      wide, builder.splat(builder.truth(true), lanes));
  llvm::SaveAndRestore guarded(guard, builder.both(guard, opposite));
  elseValues = emitBranch(op.elseBlock());
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    give(i, builder.select(wide, thenValues[i], elseValues[i]));
}

/// Reuses the value of an emitted op, if it equals this one.
bool BodyEmitter::takeReused(Operation &op) {
  Operation *same = reused ? reused->lookup(&op) : nullptr;
  if (!same)
    return false;
  Value result = op.getResult(0), given = same->getResult(0);
  if (auto index = indexValues.find(given); index != indexValues.end()) {
    Index known = index->second;
    indexValues[result] = known;
    return true;
  }
  Value known = values.lookup(given);
  if (known)
    values[result] = known;
  return known != nullptr;
}

void BodyEmitter::emitOp(Operation &op) {
  if (takeReused(op))
    return;
  if (auto read = dyn_cast<ReadOp>(op))
    return emitRead(read);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (emitIndexArithmetic(op))
    return;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Type type = storage.elementOf(constant.getType());
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      values[op.getResult(0)] =
          builder.constant(type, number.getValueAsDouble());
    else
      values[op.getResult(0)] =
          builder.create<arith::ConstantOp>(constant.getValue());
    return;
  }
  if (isa<SigmoidOp, SoftplusOp>(op)) {
    Value x = valueOf(op.getOperand(0));
    Value one = builder.constant(x.getType(), 1);
    if (isa<SigmoidOp>(op)) {
      // exp(-x) may be infinite: 1 / inf is the right 0.
      Value e = builder.create<math::ExpOp>(builder.create<arith::NegFOp>(x));
      values[op.getResult(0)] = builder.create<arith::DivFOp>(
          one, builder.create<arith::AddFOp>(one, e));
      return;
    }
    Value e = builder.create<math::ExpOp>(
        builder.create<arith::NegFOp>(builder.create<math::AbsFOp>(x)));
    Value positive =
        builder.create<arith::MaximumFOp>(x, builder.constant(x.getType(), 0));
    values[op.getResult(0)] = builder.create<arith::AddFOp>(
        positive, builder.create<math::Log1pOp>(e));
    return;
  }
  if (auto rounded = dyn_cast<RoundedOp>(op)) {
    Value x = valueOf(rounded.getOperand());
    values[op.getResult(0)] = roundedOf(builder, x);
    return;
  }
  if (auto random = dyn_cast<RandomOp>(op))
    return emitRandom(random);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    // From an index to a number.
    values[op.getResult(0)] = valueOf(op.getOperand(0));
    return;
  }
  emitScalar(op);
}

void BodyEmitter::emitBlock(Block &block, Operation *last) {
  for (Operation &op : block) {
    if (&op == last)
      return;
    emitOp(op);
  }
}

Value BodyEmitter::emit(Region &region, ArrayRef<Index> indices, Value tailMask,
                        Value guardMask) {
  tail = tailMask;
  guard = guardMask;
  Block &block = region.front();
  for (auto [argument, index] : llvm::zip_equal(block.getArguments(), indices))
    indexValues[argument] = index;
  emitBlock(block, block.getTerminator());
  return valueOf(block.getTerminator()->getOperand(0));
}

SmallVector<Value> BodyEmitter::emitFactors(ComputeOp op,
                                            ArrayRef<Index> indices,
                                            Value tailMask, Value guardMask) {
  tail = tailMask;
  guard = guardMask;
  Block &block = op.getBody().front();
  for (auto [argument, index] : llvm::zip_equal(block.getArguments(), indices))
    indexValues[argument] = index;
  Operation *yield = block.getTerminator();
  bool isFactored = isFused(op);
  Operation *product = op.getYielded().getDefiningOp();
  for (Operation &inner : block.without_terminator())
    if (!isFactored || &inner != product || !product->hasOneUse())
      emitOp(inner);
  if (!isFactored)
    return {valueOf(yield->getOperand(0))};
  return {valueOf(product->getOperand(0)), valueOf(product->getOperand(1))};
}

Value BodyEmitter::locate(Region &region, ReadOp read, ArrayRef<Index> indices,
                          Value &inside) {
  const Storage &array = storage.of(read.getArray());
  SmallVector<Index> at;
  for (Value index : read.getIndices()) {
    emitValue(region, index, indices);
    at.push_back(indexOf(index));
  }
  inside = isAlwaysInside(read) ? Value() : isInside(array, at);
  return offset(array, at).base;
}

Value BodyEmitter::emitValue(Region &region, Value value,
                             ArrayRef<Index> indices) {
  Block &block = region.front();
  for (auto [argument, index] : llvm::zip_equal(block.getArguments(), indices))
    if (index.base)
      indexValues[argument] = index;
  // In order, and only the needed ops.
  llvm::SmallPtrSet<Operation *, 8> needed;
  SmallVector<Operation *> list = {value.getDefiningOp()};
  while (!list.empty()) {
    Operation *op = list.pop_back_val();
    if (!op || op->getBlock() != &block || !needed.insert(op).second)
      continue;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!isa<ArrayType>(operand.getType()))
          list.push_back(operand.getDefiningOp());
    });
  }
  for (Operation &op : block)
    if (needed.contains(&op))
      emitOp(op);
  return valueOf(value);
}
