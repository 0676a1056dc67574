//===- MathBuilder.cpp - formulas of reals and their bits -----------------===//
//
// No op has a fast-math flag: every operation is rounded as written.
//
//===----------------------------------------------------------------------===//

#include "codegen/math/MathBuilder.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace fovea::codegen;

/// `element`, or a vector of it where `type` is a vector.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

static Value constant(MathBuilder &b, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b,
                                     DenseElementsAttr::get(vector, element));
  return arith::ConstantOp::create(b, element);
}

MathBuilder::MathBuilder(Operation *op, Type type)
    : ImplicitLocOpBuilder(op->getLoc(), op), op(op), type(type),
      single(getElementTypeOrSelf(type).isF32()) {
  wholeType = withElement(type, getIntegerType(single ? 32 : 64));
}

Real MathBuilder::real(double value) {
  auto element = FloatAttr::get(getElementTypeOrSelf(type), value);
  return {this, constant(*this, type, element)};
}
Bits MathBuilder::bits(int64_t value) {
  auto element =
      IntegerAttr::get(getElementTypeOrSelf(wholeType),
                       APInt(single ? 32 : 64, value, /*isSigned=*/true,
                             /*implicitTrunc=*/true));
  return {this, constant(*this, wholeType, element)};
}
Bits MathBuilder::bitsOf(Real x) {
  return {this, arith::BitcastOp::create(*this, wholeType, x.value)};
}
Real MathBuilder::fromBits(Bits x) {
  return {this, arith::BitcastOp::create(*this, type, x.value)};
}
Real MathBuilder::fma(Real a, Real b, Real c) {
  return {this, math::FmaOp::create(*this, a.value, b.value, c.value)};
}
Real MathBuilder::abs(Real x) {
  return {this, math::AbsFOp::create(*this, x.value)};
}
Real MathBuilder::sqrt(Real x) {
  return {this, math::SqrtOp::create(*this, x.value)};
}
Real MathBuilder::floor(Real x) {
  return {this, math::FloorOp::create(*this, x.value)};
}
Real MathBuilder::withSign(Real magnitude, Real sign) {
  return {this, math::CopySignOp::create(*this, magnitude.value, sign.value)};
}
Real MathBuilder::select(Condition condition, Real yes, Real no) {
  return {this,
          arith::SelectOp::create(*this, condition.value, yes.value, no.value)};
}
Bits MathBuilder::select(Condition condition, Bits yes, Bits no) {
  return {this,
          arith::SelectOp::create(*this, condition.value, yes.value, no.value)};
}
Real MathBuilder::atMost(Real x, double limit) {
  return select(x > limit, real(limit), x);
}
Real MathBuilder::atLeast(Real x, double limit) {
  return select(x < limit, real(limit), x);
}
Real MathBuilder::polynomial(ArrayRef<double> coefficients, Real x) {
  Real sum = real(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, real(coefficient));
  return sum;
}
Real MathBuilder::inDouble(
    ArrayRef<Real> arguments,
    function_ref<Real(MathBuilder &, ArrayRef<Real>)> body) {
  MathBuilder wide(op, withElement(type, getF64Type()));
  SmallVector<Real> widened;
  for (Real argument : arguments)
    widened.push_back(wide.real(
        arith::ExtFOp::create(wide, wide.type, argument.value).getResult()));
  Real result = body(wide, widened);
  return real(arith::TruncFOp::create(*this, type, result.value).getResult());
}

template <typename Op, typename Operand>
static Operand binary(Operand a, Operand b) {
  return {a.builder, Op::create(*a.builder, a.value, b.value)};
}

Real fovea::codegen::operator+(Real a, Real b) {
  return binary<arith::AddFOp>(a, b);
}
Real fovea::codegen::operator-(Real a, Real b) {
  return binary<arith::SubFOp>(a, b);
}
Real fovea::codegen::operator*(Real a, Real b) {
  return binary<arith::MulFOp>(a, b);
}
Real fovea::codegen::operator/(Real a, Real b) {
  return binary<arith::DivFOp>(a, b);
}
Real fovea::codegen::operator+(Real a, double b) {
  return a + a.builder->real(b);
}
Real fovea::codegen::operator-(Real a, double b) {
  return a - a.builder->real(b);
}
Real fovea::codegen::operator*(Real a, double b) {
  return a * a.builder->real(b);
}
Real fovea::codegen::operator+(double a, Real b) {
  return b.builder->real(a) + b;
}
Real fovea::codegen::operator-(double a, Real b) {
  return b.builder->real(a) - b;
}
Real fovea::codegen::operator*(double a, Real b) {
  return b.builder->real(a) * b;
}
Real fovea::codegen::operator/(double a, Real b) {
  return b.builder->real(a) / b;
}
Real fovea::codegen::operator-(Real a) {
  return {a.builder, arith::NegFOp::create(*a.builder, a.value)};
}

static Condition compare(arith::CmpFPredicate predicate, Real a, Real b) {
  return {a.builder,
          arith::CmpFOp::create(*a.builder, predicate, a.value, b.value)};
}
Condition fovea::codegen::operator<(Real a, Real b) {
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Condition fovea::codegen::operator<(Real a, double b) {
  return a < a.builder->real(b);
}
Condition fovea::codegen::operator>(Real a, Real b) {
  return compare(arith::CmpFPredicate::OGT, a, b);
}
Condition fovea::codegen::operator>(Real a, double b) {
  return a > a.builder->real(b);
}
Condition fovea::codegen::operator<=(Real a, double b) {
  return compare(arith::CmpFPredicate::OLE, a, a.builder->real(b));
}
Condition fovea::codegen::operator==(Real a, Real b) {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}
Condition fovea::codegen::operator==(Real a, double b) {
  return a == a.builder->real(b);
}
Condition fovea::codegen::operator!=(Real a, Real b) {
  return compare(arith::CmpFPredicate::UNE, a, b);
}
Condition fovea::codegen::operator&(Condition a, Condition b) {
  return binary<arith::AndIOp>(a, b);
}
Condition fovea::codegen::operator|(Condition a, Condition b) {
  return binary<arith::OrIOp>(a, b);
}
Condition fovea::codegen::operator!(Condition a) {
  MathBuilder &b = *a.builder;
  Value all = constant(b, a.value.getType(), b.getBoolAttr(true));
  return {a.builder, arith::XOrIOp::create(b, a.value, all)};
}

Bits fovea::codegen::operator+(Bits a, Bits b) {
  return binary<arith::AddIOp>(a, b);
}
Bits fovea::codegen::operator+(Bits a, int64_t b) {
  return a + a.builder->bits(b);
}
Bits fovea::codegen::operator-(Bits a, Bits b) {
  return binary<arith::SubIOp>(a, b);
}
Bits fovea::codegen::operator-(Bits a, int64_t b) {
  return a - a.builder->bits(b);
}
Bits fovea::codegen::operator&(Bits a, int64_t b) {
  return binary<arith::AndIOp>(a, a.builder->bits(b));
}
Bits fovea::codegen::operator^(Bits a, Bits b) {
  return binary<arith::XOrIOp>(a, b);
}
Bits fovea::codegen::operator<<(Bits a, int64_t count) {
  return binary<arith::ShLIOp>(a, a.builder->bits(count));
}
Bits fovea::codegen::operator>>(Bits a, int64_t count) {
  return binary<arith::ShRUIOp>(a, a.builder->bits(count));
}
static Condition compare(arith::CmpIPredicate predicate, Bits a, int64_t b) {
  return {a.builder, arith::CmpIOp::create(*a.builder, predicate, a.value,
                                           a.builder->bits(b).value)};
}
Condition fovea::codegen::operator!=(Bits a, int64_t b) {
  return compare(arith::CmpIPredicate::ne, a, b);
}
Condition fovea::codegen::isNegative(Bits a) {
  return compare(arith::CmpIPredicate::slt, a, 0);
}
