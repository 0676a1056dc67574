//===- KernelBuilder.cpp - short words for building kernels ---------------===//
//
// Each member is an op or two. All index arithmetic is in i64, which scf.for
// accepts directly.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/KernelBuilder.h"
#include "codegen/kernel/StoredReals.h"

using namespace mlir;
using namespace fovea::codegen;
using arith::CmpIPredicate;

unsigned fovea::codegen::lanesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 0;
}

Type fovea::codegen::withLanes(Type scalar, unsigned lanes) {
  return lanes ? VectorType::get({static_cast<int64_t>(lanes)}, scalar)
               : scalar;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(ModuleOp module)
    : ImplicitLocOpBuilder(UnknownLoc::get(module.getContext()),
                           module.getContext()) {
  setInsertionPointToEnd(module.getBody());
}

static ModuleOp moduleAround(Block *block) {
  Operation *parent = block->getParentOp();
  auto module = dyn_cast<ModuleOp>(parent);
  return module ? module : parent->getParentOfType<ModuleOp>();
}

void KernelBuilder::function(StringRef name, ArrayRef<Type> arguments,
                             bool isPrivate,
                             function_ref<void(ValueRange)> body) {
  ModuleOp module = moduleAround(getInsertionBlock());
  if (module.lookupSymbol(name))
    return;
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(*this, name,
                                       getFunctionType(arguments, TypeRange()));
  if (isPrivate) {
    function.setPrivate();
    function->setAttr("passthrough", getArrayAttr(getStringAttr("noinline")));
  }
  setInsertionPointToStart(function.addEntryBlock());
  body(function.getArguments());
  func::ReturnOp::create(*this);
}

void KernelBuilder::call(StringRef name, ValueRange arguments) {
  func::CallOp::create(*this, name, TypeRange(), arguments);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<int64_t> known(Value value) {
  IntegerAttr number;
  if (auto op = value.getDefiningOp<arith::ConstantOp>())
    number = dyn_cast<IntegerAttr>(op.getValue());
  return number ? std::optional(number.getInt()) : std::nullopt;
}

Type KernelBuilder::pointer() {
  return LLVM::LLVMPointerType::get(getContext());
}

Value KernelBuilder::number(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}
Value KernelBuilder::truth(bool value) {
  return arith::ConstantOp::create(*this, getBoolAttr(value));
}
Value KernelBuilder::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr number;
  if (isa<FloatType>(element))
    number = getFloatAttr(element, value);
  else
    number = getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, Attribute(number));
  return arith::ConstantOp::create(*this, number);
}

Value KernelBuilder::add(Value lhs, Value rhs) {
  std::optional<int64_t> left = known(lhs), right = known(rhs);
  if (left && right)
    return number(*left + *right);
  if (left == 0)
    return rhs;
  return right == 0 ? lhs : arith::AddIOp::create(*this, lhs, rhs).getResult();
}
Value KernelBuilder::sub(Value lhs, Value rhs) {
  std::optional<int64_t> left = known(lhs), right = known(rhs);
  if (left && right)
    return number(*left - *right);
  return right == 0 ? lhs : arith::SubIOp::create(*this, lhs, rhs).getResult();
}
Value KernelBuilder::mul(Value lhs, Value rhs) {
  std::optional<int64_t> left = known(lhs), right = known(rhs);
  if (left && right)
    return number(*left * *right);
  if (left == 0 || right == 1)
    return lhs;
  return left == 1 || right == 0
             ? rhs
             : arith::MulIOp::create(*this, lhs, rhs).getResult();
}
Value KernelBuilder::div(Value lhs, Value rhs) {
  std::optional<int64_t> left = known(lhs), right = known(rhs);
  if (left && right)
    return number(*left / *right);
  return right == 1 ? lhs : arith::DivUIOp::create(*this, lhs, rhs).getResult();
}
Value KernelBuilder::divUp(Value lhs, Value rhs) {
  return div(add(lhs, sub(rhs, number(1))), rhs);
}
Value KernelBuilder::rem(Value lhs, Value rhs) {
  std::optional<int64_t> left = known(lhs), right = known(rhs);
  if (left && right)
    return number(*left % *right);
  return arith::RemUIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::min(Value lhs, Value rhs) {
  std::optional<int64_t> left = known(lhs), right = known(rhs);
  if (left && right)
    return number(std::min(*left, *right));
  return arith::MinSIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::max(Value lhs, Value rhs) {
  std::optional<int64_t> left = known(lhs), right = known(rhs);
  if (left && right)
    return number(std::max(*left, *right));
  return arith::MaxSIOp::create(*this, lhs, rhs);
}

Value KernelBuilder::compare(CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(*this, predicate, lhs, rhs);
}
Value KernelBuilder::less(Value lhs, Value rhs) {
  return compare(CmpIPredicate::slt, lhs, rhs);
}
Value KernelBuilder::atMost(Value lhs, Value rhs) {
  return compare(CmpIPredicate::sle, lhs, rhs);
}
Value KernelBuilder::equal(Value lhs, Value rhs) {
  return compare(CmpIPredicate::eq, lhs, rhs);
}
Value KernelBuilder::both(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  unsigned lanes = std::max(lanesOf(lhs), lanesOf(rhs));
  return arith::AndIOp::create(*this, splat(lhs, lanes), splat(rhs, lanes));
}
Value KernelBuilder::either(Value lhs, Value rhs) {
  return arith::OrIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::select(Value condition, Value yes, Value no) {
  unsigned lanes = std::max({lanesOf(condition), lanesOf(yes), lanesOf(no)});
  return arith::SelectOp::create(*this, condition, splat(yes, lanes),
                                 splat(no, lanes));
}
Value KernelBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(*this, a, b, c);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Value KernelBuilder::splat(Value scalar, unsigned lanes) {
  if (!lanes || lanesOf(scalar))
    return scalar;
  auto type = cast<VectorType>(withLanes(scalar.getType(), lanes));
  if (auto op = scalar.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(
        *this, DenseElementsAttr::get(type, Attribute(op.getValue())));
  return vector::BroadcastOp::create(*this, type, scalar);
}

Value KernelBuilder::lane(unsigned lanes) {
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  return arith::ConstantOp::create(*this, getI64VectorAttr(numbers));
}

Value KernelBuilder::maskBelow(Value count, unsigned lanes) {
  return less(lane(lanes), splat(count, lanes));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bits are bytes in memory.
static Type inMemory(Type element) {
  MLIRContext *context = element.getContext();
  return element.isInteger(1) ? IntegerType::get(context, 8)
         : element.isBF16()   ? IntegerType::get(context, 16)
                              : element;
}

/// In bytes.
static unsigned alignmentOf(Type element) {
  return isa<LLVM::LLVMPointerType>(element)
             ? 8
             : element.getIntOrFloatBitWidth() / 8;
}

static Value fromMemory(KernelBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (getElementTypeOrSelf(type).isBF16())
    return realOf(builder, value, *runtime::findStorageFormat("bf16"));
  return builder.compare(CmpIPredicate::ne, value,
                         builder.constant(value.getType(), 0));
}

Value KernelBuilder::at(Type element, Value base, Value index) {
  if (known(index) == 0)
    return base;
  return LLVM::GEPOp::create(*this, pointer(), inMemory(element), base,
                             ArrayRef<LLVM::GEPArg>{index});
}
Value KernelBuilder::at(Type element, Value base, int64_t index) {
  return index == 0 ? base : at(element, base, number(index));
}

Value KernelBuilder::load(Type type, Value address, Value mask) {
  Type element = inMemory(getElementTypeOrSelf(type));
  Type stored = withLanes(element, lanesOf(type));
  unsigned alignment = alignmentOf(element);
  Value value;
  if (mask && lanesOf(type))
    value = LLVM::MaskedLoadOp::create(*this, stored, address, mask,
                                       constant(stored, 0), alignment);
  else
    value = LLVM::LoadOp::create(*this, stored, address, alignment);
  return fromMemory(*this, value, type);
}

void KernelBuilder::clear(Type element, Value address, Value count) {
  if (isOfMany) {
    share(number(0), count, [&](Value i) {
      store(constant(inMemory(element), 0), at(element, address, i));
    });
    return;
  }
  int64_t bytes = std::max(8U, element.getIntOrFloatBitWidth()) / 8;
  create<LLVM::MemsetOp>(address, constant(getI8Type(), 0),
                         mul(count, number(bytes)), /*isVolatile=*/false);
}

void KernelBuilder::copy(Type element, Value to, Value from, Value count) {
  if (isOfMany) {
    Type stored = inMemory(element);
    share(number(0), count, [&](Value i) {
      store(load(stored, at(stored, from, i)), at(stored, to, i));
    });
    return;
  }
  int64_t bytes = std::max(8U, element.getIntOrFloatBitWidth()) / 8;
  create<LLVM::MemcpyOp>(to, from, mul(count, number(bytes)),
                         /*isVolatile=*/false);
}

void KernelBuilder::store(Value value, Value address, Value mask) {
  if (ownTeam)
    return alone([&] { store(value, address, mask); });
  Type element = inMemory(getElementTypeOrSelf(value));
  if (element != getElementTypeOrSelf(value))
    value = arith::ExtUIOp::create(*this, withLanes(element, lanesOf(value)),
                                   value);
  if (mask && lanesOf(value))
    LLVM::MaskedStoreOp::create(*this, value, address, mask,
                                alignmentOf(element));
  else
    LLVM::StoreOp::create(*this, value, address, alignmentOf(element));
}

void KernelBuilder::storeAs(Type element, Value value, Value address,
                            Value mask) {
  if (!element.isBF16())
    return store(value, address, mask);
  unsigned lanes = lanesOf(value);
  Type wide = withLanes(getI32Type(), lanes);
  Value bits = create<arith::BitcastOp>(wide, value);
  Value upper = create<arith::ShRUIOp>(bits, constant(wide, 16));
  Value half = create<arith::TruncIOp>(withLanes(getI16Type(), lanes), upper);
  if (!mask || lanes == 0)
    return store(half, address, mask);
  // LLVM 22 stores four bytes where a masked store of truncated numbers has one
  // lane (X86, reduceMaskedStoreToScalarStore). So each lane has its own.
  for (unsigned lane = 0; lane < lanes; ++lane) {
    auto laneOf = [&](Value vector) -> Value {
      return create<vector::ExtractOp>(vector, static_cast<int64_t>(lane));
    };
    branch(laneOf(mask), [&] {
      store(laneOf(half), at(getI16Type(), address, int64_t(lane)));
    });
  }
}

void KernelBuilder::storePast(Value value, Value address) {
  auto type = cast<VectorType>(value.getType());
  unsigned bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  LLVM::StoreOp::create(*this, value, address, bytes, /*isVolatile=*/false,
                        /*isNonTemporal=*/true);
}
void KernelBuilder::fence() {
  create<LLVM::FenceOp>(LLVM::AtomicOrdering::seq_cst);
}

Value KernelBuilder::gather(VectorType type, Value base, Value offsets,
                            Value mask) {
  unsigned lanes = type.getNumElements();
  Type element = inMemory(type.getElementType());
  Value pointers =
      LLVM::GEPOp::create(*this, withLanes(pointer(), lanes), element, base,
                          ArrayRef<LLVM::GEPArg>{offsets});
  if (!mask)
    mask = splat(truth(true), lanes);
  Type stored = withLanes(element, lanes);
  Value value = LLVM::masked_gather::create(*this, stored, pointers, mask,
                                            ValueRange{constant(stored, 0)},
                                            alignmentOf(element));
  return fromMemory(*this, value, type);
}

void KernelBuilder::prefetch(Value address, bool forWriting) {
  // Synchronisation is the team's task.
  if (isOfMany)
    return;
  LLVM::Prefetch::create(*this, address, getI32IntegerAttr(forWriting),
                         getI32IntegerAttr(forWriting ? 3 : 2),
                         getI32IntegerAttr(1));
}
Value KernelBuilder::scratch(Type element, int64_t count) {
  // Two of them exist at a time, in a product and its callee. Compiled code
  // promises its callers that 1 MB of stack is enough
  // (runtime/model/CInterface.cpp).
  assert(count * element.getIntOrFloatBitWidth() / 8 <= 448 << 10 &&
         "a caller has no stack for that");
  return LLVM::AllocaOp::create(*this, pointer(), element, number(count),
                                /*alignment=*/64);
}

int FrameReads::add(Slot slot) {
  auto *found = llvm::find_if(
      slots, [&](const Slot &each) { return each.number == slot.number; });
  if (found == slots.end())
    found = slots.insert(found, slot);
  found->isAddress |= slot.isAddress;
  return static_cast<int>(found - slots.begin());
}

SmallVector<int64_t> FrameReads::numbers() const {
  return llvm::map_to_vector(
      slots, [](const Slot &slot) { return int64_t(slot.number); });
}

Value KernelBuilder::readSlot(Type type, Value frame, int number) {
  if (!frameReads || frame != frameReads->frame)
    return load(type, at(i64(), frame, number));
  FrameReads::Slot slot{number, isa<LLVM::LLVMPointerType>(type)};
  int place = frameReads->add(slot);
  if (frameReads->areListed)
    return load(
        type, LLVM::GEPOp::create(*this, pointer(), i64(), frame,
                                  ArrayRef<LLVM::GEPArg>{this->number(place)}));
  Value value = load(type, at(i64(), frame, number));
  frameReads->byLoad[value.getDefiningOp()] = slot;
  return value;
}
Value KernelBuilder::slot(Value frame, int number) {
  return readSlot(i64(), frame, number);
}
Value KernelBuilder::pointerSlot(Value frame, int number) {
  return readSlot(pointer(), frame, number);
}
void KernelBuilder::setSlot(Value frame, int number, Value value) {
  assert(
      (!frameReads || !frameReads->areListed || frame != frameReads->frame) &&
      "a kernel writes no slots");
  store(value, at(i64(), frame, number));
}
Value KernelBuilder::entry(Value frame, int number, Value index) {
  return load(i64(), at(i64(), pointerSlot(frame, number), index));
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void KernelBuilder::loop(Value from, Value to, Value step,
                         function_ref<void(Value)> body) {
  loop(from, to, step, {}, [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

KernelBuilder::Values
KernelBuilder::loop(Value from, Value to, Value step, ValueRange inits,
                    function_ref<Values(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      *this, from, to, step, inits,
      [&](OpBuilder &inner, Location, Value i, ValueRange values) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Values next = body(i, values);
        scf::YieldOp::create(*this, next);
      });
  return Values(loop.getResults().begin(), loop.getResults().end());
}

Value KernelBuilder::repeatWhile(Value value,
                                 function_ref<Value(Value)> condition,
                                 function_ref<Value(Value)> body) {
  auto build = [&](OpBuilder &inner, auto emit) {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    emit();
  };
  auto loop = scf::WhileOp::create(
      *this, value.getType(), value,
      [&](OpBuilder &inner, Location, ValueRange values) {
        build(inner, [&] {
          Value holds = condition(values[0]);
          scf::ConditionOp::create(*this, holds, values);
        });
      },
      [&](OpBuilder &inner, Location, ValueRange values) {
        build(inner, [&] { scf::YieldOp::create(*this, body(values[0])); });
      });
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// Teams
//===----------------------------------------------------------------------===//

void KernelBuilder::share(Value from, Value to,
                          function_ref<void(Value)> body) {
  share(from, to, {}, [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

KernelBuilder::Values
KernelBuilder::share(Value from, Value to, ValueRange inits,
                     function_ref<Values(Value, ValueRange)> body) {
  if (!ownTeam)
    return loop(from, to, number(1), inits, body);
  llvm::SaveAndRestore single(ownTeam, std::optional<Team>());
  const Team &team = *single.get();
  return loop(add(from, team.thread), to, number(team.size), inits, body);
}

/// A group as a team of its own.
static Team groupOf(const Team &team) {
  Team group;
  group.ops = team.ops;
  group.thread = group.lane = team.lane;
  group.size = team.size / team.numGroups;
  return group;
}

void KernelBuilder::shareInGroups(Value from, Value to,
                                  function_ref<void(Value)> body) {
  if (!ownTeam || !ownTeam->group)
    return loop(from, to, number(1), body);
  llvm::SaveAndRestore single(ownTeam, std::optional(groupOf(*ownTeam)));
  const Team &team = *single.get();
  loop(add(from, team.group), to, number(team.numGroups), body);
}

void KernelBuilder::alone(function_ref<void()> body) {
  if (!ownTeam)
    return body();
  llvm::SaveAndRestore single(ownTeam, std::optional<Team>());
  branch(equal(single.get()->thread, number(0)), body);
}

void KernelBuilder::inFirstGroup(function_ref<void()> body) {
  if (!ownTeam || !ownTeam->group)
    return body();
  llvm::SaveAndRestore single(ownTeam, std::optional(groupOf(*ownTeam)));
  branch(equal(single.get()->group, number(0)), body);
}

void KernelBuilder::wait() {
  if (ownTeam)
    ownTeam->ops->wait(*this, ownTeam->group != nullptr);
}

void KernelBuilder::branch(Value condition, function_ref<void()> yes,
                           function_ref<void()> no) {
  auto branch = scf::IfOp::create(*this, condition, bool(no));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  yes();
  if (!no)
    return;
  setInsertionPointToStart(branch.elseBlock());
  no();
}

KernelBuilder::Values KernelBuilder::chooseAll(Value condition,
                                               function_ref<Values()> yes,
                                               function_ref<Values()> no) {
  // Built separately, because the types of the results follow from both.
  Operation *around = getInsertionBlock()->getParentOp();
  Region apart(around);
  Block *yesBlock = &apart.emplaceBlock(), *noBlock = &apart.emplaceBlock();
  Values yesValues, noValues;
  {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToEnd(yesBlock);
    yesValues = yes();
    setInsertionPointToEnd(noBlock);
    noValues = no();
    for (auto [a, b] : llvm::zip_equal(yesValues, noValues))
      b = splat(b, lanesOf(a));
    scf::YieldOp::create(*this, noValues);
    setInsertionPointToEnd(yesBlock);
    for (auto [a, b] : llvm::zip_equal(yesValues, noValues))
      a = splat(a, lanesOf(b));
    scf::YieldOp::create(*this, yesValues);
  }
  auto op =
      scf::IfOp::create(*this, ValueRange(yesValues).getTypes(), condition,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  op.thenBlock()->getOperations().splice(op.thenBlock()->end(),
                                         yesBlock->getOperations());
  op.elseBlock()->getOperations().splice(op.elseBlock()->end(),
                                         noBlock->getOperations());
  return Values(op.getResults().begin(), op.getResults().end());
}

Value KernelBuilder::choose(Value condition, function_ref<Value()> yes,
                            function_ref<Value()> no) {
  return chooseAll(
      condition, [&] { return Values{yes()}; },
      [&] { return Values{no()}; })[0];
}

void KernelBuilder::dispatch(Value value, int64_t count,
                             function_ref<void(int64_t)> body) {
  Value index = arith::IndexCastOp::create(*this, getIndexType(), value);
  SmallVector<int64_t> cases;
  for (int64_t n = 1; n <= count; ++n)
    cases.push_back(n);
  auto choice =
      scf::IndexSwitchOp::create(*this, TypeRange(), index, cases, count);
  OpBuilder::InsertionGuard guard(*this);
  for (int64_t n = 1; n <= count; ++n) {
    setInsertionPointToStart(&choice.getCaseRegions()[n - 1].emplaceBlock());
    body(n);
    scf::YieldOp::create(*this);
  }
  setInsertionPointToStart(&choice.getDefaultRegion().emplaceBlock());
  scf::YieldOp::create(*this);
}
