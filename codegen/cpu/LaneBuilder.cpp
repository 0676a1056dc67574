//===- LaneBuilder.cpp - scalars, vectors and memory of kernels ---------===//

#include "codegen/cpu/LaneBuilder.h"

using namespace mlir;
using namespace fovea::codegen;

unsigned fovea::codegen::lanesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 0;
}

Type fovea::codegen::withLanes(Type scalar, unsigned lanes) {
  return lanes ? VectorType::get({static_cast<int64_t>(lanes)}, scalar)
               : scalar;
}

static std::optional<int64_t> known(Value value) {
  IntegerAttr number;
  if (auto op = value.getDefiningOp<arith::ConstantOp>())
    number = dyn_cast<IntegerAttr>(op.getValue());
  return number ? std::optional(number.getInt()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value LaneBuilder::whole(int64_t value) {
  return create<arith::ConstantOp>(getI64IntegerAttr(value));
}

Value LaneBuilder::bit(bool value) {
  return create<arith::ConstantOp>(getBoolAttr(value));
}

Value LaneBuilder::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr number;
  if (isa<FloatType>(element))
    number = getFloatAttr(element, value);
  else
    number = getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, Attribute(number));
  return create<arith::ConstantOp>(number);
}

Value LaneBuilder::add(Value a, Value b) {
  std::optional<int64_t> left = known(a), right = known(b);
  if (left && right)
    return whole(*left + *right);
  if (left == 0)
    return b;
  return right == 0 ? a : create<arith::AddIOp>(a, b).getResult();
}

Value LaneBuilder::sub(Value a, Value b) {
  std::optional<int64_t> left = known(a), right = known(b);
  if (left && right)
    return whole(*left - *right);
  return right == 0 ? a : create<arith::SubIOp>(a, b).getResult();
}

Value LaneBuilder::mul(Value a, Value b) {
  std::optional<int64_t> left = known(a), right = known(b);
  if (left && right)
    return whole(*left * *right);
  if (left == 0 || right == 1)
    return a;
  return left == 1 || right == 0 ? b : create<arith::MulIOp>(a, b).getResult();
}

Value LaneBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return create<arith::CmpIOp>(predicate, a, b);
}

Value LaneBuilder::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  unsigned lanes = std::max(lanesOf(a), lanesOf(b));
  return create<arith::AndIOp>(splat(a, lanes), splat(b, lanes));
}

Value LaneBuilder::select(Value condition, Value a, Value b) {
  unsigned lanes = std::max({lanesOf(condition), lanesOf(a), lanesOf(b)});
  return create<arith::SelectOp>(condition, splat(a, lanes), splat(b, lanes));
}

Value LaneBuilder::smaller(Value a, Value b) {
  return create<arith::MinSIOp>(a, b);
}

Value LaneBuilder::larger(Value a, Value b) {
  return create<arith::MaxSIOp>(a, b);
}

Value LaneBuilder::splat(Value scalar, unsigned lanes) {
  if (!lanes || lanesOf(scalar))
    return scalar;
  if (auto op = scalar.getDefiningOp<arith::ConstantOp>()) {
    auto type = cast<VectorType>(withLanes(scalar.getType(), lanes));
    return create<arith::ConstantOp>(
        DenseElementsAttr::get(type, Attribute(op.getValue())));
  }
  return create<vector::BroadcastOp>(withLanes(scalar.getType(), lanes),
                                     scalar);
}

Value LaneBuilder::lane(unsigned lanes) {
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  return create<arith::ConstantOp>(getI64VectorAttr(numbers));
}

Value LaneBuilder::mask(Value count, unsigned lanes) {
  return compare(arith::CmpIPredicate::slt, lane(lanes), splat(count, lanes));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bits are bytes in memory.
static Type inMemory(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

static unsigned alignmentOf(Type element) {
  return std::max(8u, element.getIntOrFloatBitWidth()) / 8;
}

static Value fromMemory(LaneBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return builder.compare(arith::CmpIPredicate::ne, value,
                         builder.constant(value.getType(), 0));
}

Value LaneBuilder::address(Type element, Value base, Value offset) {
  if (known(offset) == 0)
    return base;
  return create<LLVM::GEPOp>(pointerType(), inMemory(element), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value LaneBuilder::load(Type type, Value pointer) {
  Type element = inMemory(getElementTypeOrSelf(type));
  Value value = create<LLVM::LoadOp>(withLanes(element, lanesOf(type)), pointer,
                                     alignmentOf(element));
  return fromMemory(*this, value, type);
}

Value LaneBuilder::load(Type type, Value pointer, Value mask) {
  if (!mask || !lanesOf(type))
    return load(type, pointer);
  Type element = inMemory(getElementTypeOrSelf(type));
  Type stored = withLanes(element, lanesOf(type));
  Value value = create<LLVM::MaskedLoadOp>(
      stored, pointer, mask, constant(stored, 0), alignmentOf(element));
  return fromMemory(*this, value, type);
}

Value LaneBuilder::gather(VectorType type, Value base, Value offsets,
                          Value mask) {
  unsigned lanes = type.getNumElements();
  Type element = inMemory(type.getElementType());
  Value pointers = create<LLVM::GEPOp>(withLanes(pointerType(), lanes), element,
                                       base, ArrayRef<LLVM::GEPArg>{offsets});
  if (!mask)
    mask = splat(bit(true), lanes);
  Type stored = withLanes(element, lanes);
  Value value = create<LLVM::masked_gather>(stored, pointers, mask,
                                            ValueRange{constant(stored, 0)},
                                            alignmentOf(element));
  return fromMemory(*this, value, type);
}

void LaneBuilder::store(Value value, Value pointer, Value mask) {
  Type element = inMemory(getElementTypeOrSelf(value));
  if (element != getElementTypeOrSelf(value))
    value = create<arith::ExtUIOp>(withLanes(element, lanesOf(value)), value);
  if (mask && lanesOf(value))
    create<LLVM::MaskedStoreOp>(value, pointer, mask, alignmentOf(element));
  else
    create<LLVM::StoreOp>(value, pointer, alignmentOf(element));
}

Value LaneBuilder::slot(Value frame, int number) {
  return load(getI64Type(), address(getI64Type(), frame, whole(number)));
}

Value LaneBuilder::pointerSlot(Value frame, int number) {
  return create<LLVM::LoadOp>(pointerType(),
                              address(getI64Type(), frame, whole(number)), 8);
}

void LaneBuilder::setSlot(Value frame, int number, Value value) {
  store(value, address(getI64Type(), frame, whole(number)));
}

Value LaneBuilder::entry(Value frame, int number, Value index) {
  return load(getI64Type(),
              address(getI64Type(), pointerSlot(frame, number), index));
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

SmallVector<Value> LaneBuilder::loop(
    Value first, Value last, int64_t step, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = create<scf::ForOp>(first, last, whole(step), carried);
  OpBuilder::InsertionGuard guard(*this);
  if (carried.empty())
    setInsertionPoint(op.getBody()->getTerminator());
  else
    setInsertionPointToEnd(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  if (!carried.empty())
    create<scf::YieldOp>(next);
  return op.getResults();
}

void LaneBuilder::loop(Value first, Value last, int64_t step,
                       llvm::function_ref<void(Value)> body) {
  loop(first, last, step, ValueRange(), [&](Value index, ValueRange) {
    body(index);
    return SmallVector<Value>();
  });
}

SmallVector<Value>
LaneBuilder::branches(Value condition,
                      llvm::function_ref<SmallVector<Value>()> then,
                      llvm::function_ref<SmallVector<Value>()> otherwise) {
  // Built apart, because the types of the results follow from both.
  Block thenBlock, elseBlock;
  SmallVector<Value> thenValues, elseValues;
  {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToEnd(&thenBlock);
    thenValues = then();
    setInsertionPointToEnd(&elseBlock);
    elseValues = otherwise();
    for (auto [a, b] : llvm::zip_equal(thenValues, elseValues))
      b = splat(b, lanesOf(a));
    create<scf::YieldOp>(elseValues);
    setInsertionPointToEnd(&thenBlock);
    for (auto [a, b] : llvm::zip_equal(thenValues, elseValues))
      a = splat(a, lanesOf(b));
    create<scf::YieldOp>(thenValues);
  }
  auto op = create<scf::IfOp>(ValueRange(thenValues).getTypes(), condition,
                              /*addThenBlock=*/true, /*addElseBlock=*/true);
  op.thenBlock()->getOperations().splice(op.thenBlock()->end(),
                                         thenBlock.getOperations());
  op.elseBlock()->getOperations().splice(op.elseBlock()->end(),
                                         elseBlock.getOperations());
  return op.getResults();
}

Value LaneBuilder::branch(Value condition, llvm::function_ref<Value()> then,
                          llvm::function_ref<Value()> otherwise) {
  return branches(
      condition, [&] { return SmallVector<Value>{then()}; },
      [&] { return SmallVector<Value>{otherwise()}; })[0];
}

void LaneBuilder::when(Value condition, llvm::function_ref<void()> then) {
  auto op = create<scf::IfOp>(condition);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPoint(op.thenBlock()->getTerminator());
  then();
}
