//===- KernelBuilder.cpp - short words for building kernels ---------------===//
//
// Each member is an op or two. All index arithmetic is in i64, which scf.for
// takes as it is.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/KernelBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fovea::codegen;

static unsigned bytesOf(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

KernelBuilder::KernelBuilder(ModuleOp module)
    : ImplicitLocOpBuilder(UnknownLoc::get(module.getContext()),
                           module.getContext()),
      module(module) {
  setInsertionPointToEnd(module.getBody());
}

void KernelBuilder::function(StringRef name, ArrayRef<Type> arguments,
                             bool isPrivate,
                             function_ref<void(ValueRange)> body) {
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

Type KernelBuilder::pointer() {
  return LLVM::LLVMPointerType::get(getContext());
}

Value KernelBuilder::number(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}
Value KernelBuilder::truth(bool value) {
  return arith::ConstantOp::create(*this, getBoolAttr(value));
}
Value KernelBuilder::add(Value lhs, Value rhs) {
  return arith::AddIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::sub(Value lhs, Value rhs) {
  return arith::SubIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::mul(Value lhs, Value rhs) {
  return arith::MulIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::div(Value lhs, Value rhs) {
  return arith::DivUIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::divUp(Value lhs, Value rhs) {
  return div(add(lhs, sub(rhs, number(1))), rhs);
}
Value KernelBuilder::rem(Value lhs, Value rhs) {
  return arith::RemUIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::min(Value lhs, Value rhs) {
  return arith::MinSIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::max(Value lhs, Value rhs) {
  return arith::MaxSIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::select(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(*this, condition, yes, no);
}
Value KernelBuilder::less(Value lhs, Value rhs) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, lhs, rhs);
}
Value KernelBuilder::atMost(Value lhs, Value rhs) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::sle, lhs, rhs);
}
Value KernelBuilder::equal(Value lhs, Value rhs) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, lhs, rhs);
}
Value KernelBuilder::both(Value lhs, Value rhs) {
  return arith::AndIOp::create(*this, lhs, rhs);
}
Value KernelBuilder::either(Value lhs, Value rhs) {
  return arith::OrIOp::create(*this, lhs, rhs);
}

Value KernelBuilder::at(Type element, Value base, Value index) {
  return LLVM::GEPOp::create(*this, pointer(), element, base,
                             ArrayRef<LLVM::GEPArg>{index},
                             LLVM::GEPNoWrapFlags::inbounds);
}
Value KernelBuilder::at(Type element, Value base, int64_t index) {
  return index == 0 ? base : at(element, base, number(index));
}

Value KernelBuilder::load(Type type, Value address) {
  return LLVM::LoadOp::create(*this, type, address, bytesOf(type));
}
void KernelBuilder::store(Value value, Value address) {
  LLVM::StoreOp::create(*this, value, address, bytesOf(value.getType()));
}
void KernelBuilder::prefetch(Value address, bool forWriting) {
  LLVM::Prefetch::create(*this, address, getI32IntegerAttr(forWriting),
                         getI32IntegerAttr(forWriting ? 3 : 2),
                         getI32IntegerAttr(1));
}
Value KernelBuilder::load(VectorType type, Value address, Value mask) {
  return LLVM::MaskedLoadOp::create(*this, type, address, mask, zeros(type),
                                    getI32IntegerAttr(bytesOf(type)));
}
void KernelBuilder::store(Value value, Value address, Value mask) {
  LLVM::MaskedStoreOp::create(*this, value, address, mask,
                              getI32IntegerAttr(bytesOf(value.getType())));
}
Value KernelBuilder::scratch(Type element, int64_t count) {
  return LLVM::AllocaOp::create(*this, pointer(), element, number(count),
                                /*alignment=*/64);
}

Value KernelBuilder::maskBelow(Value count, int64_t lanes) {
  Value index = arith::IndexCastOp::create(*this, getIndexType(), count);
  return vector::CreateMaskOp::create(
      *this, VectorType::get(lanes, getI1Type()), index);
}
Value KernelBuilder::broadcast(VectorType type, Value scalar) {
  return vector::BroadcastOp::create(*this, type, scalar);
}
Value KernelBuilder::zeros(Type type) {
  return arith::ConstantOp::create(*this, cast<TypedAttr>(getZeroAttr(type)));
}
Value KernelBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(*this, a, b, c);
}

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

KernelBuilder::Values KernelBuilder::choose(Value condition, TypeRange types,
                                            function_ref<Values()> yes,
                                            function_ref<Values()> no) {
  auto branch = scf::IfOp::create(*this, types, condition, true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  Values values = yes();
  scf::YieldOp::create(*this, values);
  setInsertionPointToStart(branch.elseBlock());
  values = no();
  scf::YieldOp::create(*this, values);
  return Values(branch.getResults().begin(), branch.getResults().end());
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
