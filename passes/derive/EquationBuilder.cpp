//===- EquationBuilder.cpp - equations that derivations add ---------------===//

#include "passes/derive/EquationBuilder.h"
#include <limits>

using namespace mlir;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Scalars::constant(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF64FloatAttr(value));
}
Value Scalars::place(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value Scalars::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value Scalars::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value Scalars::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value Scalars::div(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b);
}
Value Scalars::negate(Value a) {
  return arith::NegFOp::create(builder, loc, a);
}
Value Scalars::log(Value a) { return math::LogOp::create(builder, loc, a); }
Value Scalars::sqrt(Value a) { return math::SqrtOp::create(builder, loc, a); }
Value Scalars::cos(Value a) { return math::CosOp::create(builder, loc, a); }
Value Scalars::softplus(Value a) { return SoftplusOp::create(builder, loc, a); }
Value Scalars::sigmoid(Value a) { return SigmoidOp::create(builder, loc, a); }
Value Scalars::stop(Value a) { return StopOp::create(builder, loc, a); }

Value Scalars::read(Value array, ArrayRef<Value> more) {
  auto type = cast<ArrayType>(array.getType());
  SmallVector<Value> at(
      ArrayRef<Value>(indices).take_front(type.getRank() - more.size()));
  llvm::append_range(at, more);
  return ReadOp::create(builder, loc, array, at);
}

Value Scalars::readOr(Value array, ArrayRef<Value> where, Value otherwise) {
  auto type = cast<ArrayType>(array.getType());
  return ReadOp::create(builder, loc, type.getElementType(), array, where,
                        ValueRange(), otherwise, ArrayAttr());
}

Value Scalars::asPlace(Value value) {
  if (value.getType().isInteger(1))
    return select(value, place(1), place(0));
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}
Value Scalars::asWhole(Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}
Value Scalars::before(Value index) {
  return arith::SubIOp::create(builder, loc, index, place(1));
}

Value Scalars::isSet(Value bit) {
  if (bit.getType().isInteger(1))
    return bit;
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit,
                               zero);
}

Value Scalars::logOfProbability(Value p) {
  return either(
      atMost(p, constant(0)),
      [&] { return constant(-std::numeric_limits<double>::infinity()); },
      [&] { return log(p); });
}

Value Scalars::logOfBit(Value given, bool isLogit) {
  Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       indices.back(), place(0));
  if (isLogit) {
    Value against = select(isZero, given, negate(given));
    return negate(softplus(against));
  }
  Value other = sub(constant(1), given);
  return logOfProbability(select(isZero, other, given));
}

Value Scalars::either(Value condition, llvm::function_ref<Value()> then,
                      llvm::function_ref<Value()> otherwise) {
  auto choice = scf::IfOp::create(builder, loc, builder.getF64Type(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [block, value] : {std::pair(choice.thenBlock(), then),
                              std::pair(choice.elseBlock(), otherwise)}) {
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, loc, value());
  }
  return choice.getResult(0);
}

Value Scalars::select(Value condition, Value then, Value otherwise) {
  return arith::SelectOp::create(builder, loc, condition, then, otherwise);
}
Value Scalars::less(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
}
Value Scalars::atMost(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, a, b);
}
Value Scalars::both(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

Attribute fovea::attn::lastExtent(Value array) {
  return cast<ArrayType>(array.getType()).getShape().getValue().back();
}

Value EquationBuilder::compute(const Twine &label, ArrayRef<Attribute> kept,
                               Reducer reducer, ArrayRef<Attribute> reduced,
                               Body body, Type element, Body condition) {
  SmallVector<Attribute> extents(kept), names;
  llvm::append_range(extents, reduced);
  for (unsigned i = 0; i < extents.size(); ++i)
    names.push_back(builder.getStringAttr("i" + Twine(i)));
  SmallString<32> text;
  auto op =
      ComputeOp::create(builder, loc, label.toStringRef(text), names, extents,
                        /*lower=*/ArrayRef<int64_t>(), kept.size(), reducer,
                        element ? element : builder.getF64Type(),
                        /*withCondition=*/bool(condition));
  OpBuilder::InsertionGuard guard(builder);
  auto fill = [&](Region &region, Body what) {
    Block &block = region.front();
    builder.setInsertionPointToEnd(&block);
    Scalars scalars(builder, loc, block.getArguments());
    YieldOp::create(builder, loc, what(scalars));
  };
  fill(op.getBody(), body);
  if (condition)
    fill(op.getCondition(), condition);
  return op.getResult();
}

Value EquationBuilder::sum(const Twine &label, ArrayRef<Attribute> over,
                           Body body) {
  return over.empty() ? compute(label, {}, Reducer::none, {}, body)
                      : compute(label, {}, Reducer::sum, over, body);
}

Value EquationBuilder::total(StringRef label, ArrayRef<Value> terms) {
  if (terms.size() == 1)
    return terms.front();
  return sum(label, {}, [&](Scalars &at) {
    Value value = at.constant(0);
    for (Value term : terms)
      value = at.add(value, at.read(term));
    return value;
  });
}
