//===- MathBuilder.h - formulas of reals and their bits -------*- C++ -*-===//
//
// Lets the formulas of ExpandMath read like formulas. A `Real` is a value of
// f32, f64 or a vector of one; `Bits` are the same bits as whole numbers; a
// `Condition` has a bit per lane. Every operator is one op.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_MATH_MATHBUILDER_H
#define FOVEA_CODEGEN_MATH_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fovea::codegen {

class MathBuilder;

struct Real {
  MathBuilder *builder;
  mlir::Value value;
};
struct Bits {
  MathBuilder *builder;
  mlir::Value value;
};
struct Condition {
  MathBuilder *builder;
  mlir::Value value;
};

class MathBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Builds before `op`; `type` is the type of all Reals.
  MathBuilder(mlir::Operation *op, mlir::Type type);

  /// The element has 32 bits.
  bool isSingle() const { return single; }
  int64_t mantissaBits() const { return single ? 23 : 52; }

  Real real(mlir::Value value) { return {this, value}; }
  Real real(double value);
  Bits bits(int64_t value);
  Bits bitsOf(Real x);
  Real fromBits(Bits x);

  /// a * b + c with one rounding.
  Real fma(Real a, Real b, Real c);
  Real abs(Real x);
  Real sqrt(Real x);
  Real floor(Real x);
  /// The magnitude of one and the sign of the other.
  Real withSign(Real magnitude, Real sign);
  Real select(Condition condition, Real yes, Real no);
  Bits select(Condition condition, Bits yes, Bits no);
  /// Clamps x to the limit; a NaN stays.
  Real atMost(Real x, double limit);
  Real atLeast(Real x, double limit);
  /// The polynomial with these coefficients, the constant term first, by
  /// Horner's rule: a fused multiply-add per coefficient.
  Real polynomial(llvm::ArrayRef<double> coefficients, Real x);

  /// Calls `body` with a builder for f64 and converts its result back to f32.
  Real inDouble(llvm::ArrayRef<Real> arguments,
                llvm::function_ref<Real(MathBuilder &, llvm::ArrayRef<Real>)>);

private:
  mlir::Operation *op;
  mlir::Type type, wholeType;
  bool single;
};

Real operator+(Real a, Real b);
Real operator-(Real a, Real b);
Real operator*(Real a, Real b);
Real operator/(Real a, Real b);
Real operator+(Real a, double b);
Real operator-(Real a, double b);
Real operator*(Real a, double b);
Real operator+(double a, Real b);
Real operator-(double a, Real b);
Real operator*(double a, Real b);
Real operator/(double a, Real b);
Real operator-(Real a);

/// False if one side is a NaN.
Condition operator<(Real a, Real b);
Condition operator<(Real a, double b);
Condition operator>(Real a, Real b);
Condition operator>(Real a, double b);
Condition operator<=(Real a, double b);
Condition operator==(Real a, Real b);
Condition operator==(Real a, double b);
/// True if one side is a NaN.
Condition operator!=(Real a, Real b);
Condition operator&(Condition a, Condition b);
Condition operator|(Condition a, Condition b);
Condition operator!(Condition a);

Bits operator+(Bits a, Bits b);
Bits operator+(Bits a, int64_t b);
Bits operator-(Bits a, Bits b);
Bits operator-(Bits a, int64_t b);
Bits operator&(Bits a, int64_t b);
Bits operator^(Bits a, Bits b);
Bits operator<<(Bits a, int64_t count);
/// Zeros are shifted in from the left.
Bits operator>>(Bits a, int64_t count);
Condition operator!=(Bits a, int64_t b);
/// The highest bit is set: a real has a minus sign.
Condition isNegative(Bits a);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_MATH_MATHBUILDER_H
