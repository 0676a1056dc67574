//===- Circular.cpp - sine and cosine, and their inverses -----------------===//
//
// All in f64; f32 goes through it. Arguments are reduced to [-pi/4, pi/4] by
// three parts of pi/2 (Cody and Waite, 1980), whose products with n are exact
// by fused multiply-add: up to 2^48 the result keeps its relative precision.
// Inverse functions are reduced as in Cephes; the coefficients are our own.
//
//===----------------------------------------------------------------------===//

#include "codegen/math/Functions.h"
#include "codegen/math/MathTables.h"

#include <limits>

using namespace fovea::codegen;

static constexpr double inf = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
static constexpr double pi = 3.14159265358979323846;
static constexpr double piLow = 1.2246467991473531772e-16;

namespace {

/// The sine and cosine of x - n pi/2, and n in the low bits.
struct Quadrant {
  Real sine, cosine;
  Bits n;
};

} // namespace

static Quadrant reduce(MathBuilder &b, Real x) {
  constexpr double rounder = 6755399441055744.0; // 1.5 * 2^52
  Real shifted = b.fma(x, b.real(2 / pi), b.real(rounder));
  Real n = shifted - rounder;
  Real r = b.fma(n, b.real(-1.5707963267948966), x);
  r = b.fma(n, b.real(-6.123233995736766e-17), r);
  r = b.fma(n, b.real(1.4973849048591833e-33), r);
  Real z = r * r;
  Real sine = b.fma(r * z, b.polynomial(tables::sin64, z), r);
  sine = b.withSign(sine, r);
  Real half = 0.5 * z;
  Real cosine = 1.0 - half;
  // The rounding error of 1 - z / 2.
  Real lost = (1.0 - cosine) - half;
  cosine = cosine + b.fma(z * z, b.polynomial(tables::cos64, z), lost);
  return {sine, cosine, b.bitsOf(shifted)};
}

/// NaN where the reduction is invalid.
static Real inRange(MathBuilder &b, Real x, Real y) {
  return b.select(b.abs(x) <= 0x1p48, y, b.real(notANumber));
}

/// The reduction has lost the sign of zero.
static Real atZero(MathBuilder &b, Real x, Real y) {
  return b.select(x == 0.0, x, y);
}

/// The value in quadrant n: sine, cosine, -sine, -cosine.
static Real inQuadrant(MathBuilder &b, Quadrant q, Bits n) {
  Real y = b.select((n & 1) != 0, q.cosine, q.sine);
  return b.fromBits(b.bitsOf(y) ^ ((n & 2) << 62));
}

Real fovea::codegen::emitSin(MathBuilder &b, Real x) {
  Quadrant q = reduce(b, x);
  return atZero(b, x, inRange(b, x, inQuadrant(b, q, q.n)));
}

Real fovea::codegen::emitCos(MathBuilder &b, Real x) {
  Quadrant q = reduce(b, x);
  return inRange(b, x, inQuadrant(b, q, q.n + 1));
}

Real fovea::codegen::emitTan(MathBuilder &b, Real x) {
  Quadrant q = reduce(b, x);
  Condition isOdd = (q.n & 1) != 0;
  Real top = b.select(isOdd, -q.cosine, q.sine);
  Real bottom = b.select(isOdd, q.sine, q.cosine);
  return atZero(b, x, inRange(b, x, top / bottom));
}

/// atan(a) for a >= 0: a, pi/4 + atan((a - 1) / (a + 1)) or pi/2 - atan(1 / a).
static Real atanOfPositive(MathBuilder &b, Real a) {
  Condition isLarge = a > 2.41421356237309505;
  Condition isMiddle = a > 0.41421356237309505;
  Real top = b.select(isLarge, b.real(-1.0), b.select(isMiddle, a - 1.0, a));
  Real bottom = b.select(isLarge, a, b.select(isMiddle, a + 1.0, b.real(1.0)));
  auto start = [&](double whole) {
    return b.select(isLarge, b.real(whole / 2),
                    b.select(isMiddle, b.real(whole / 4), b.real(0.0)));
  };
  Real t = top / bottom;
  Real z = t * t;
  Real rest = b.fma(t * z, b.polynomial(tables::atan64, z), start(piLow));
  return start(pi) + (t + rest);
}

Real fovea::codegen::emitAtan(MathBuilder &b, Real x) {
  return b.withSign(atanOfPositive(b, b.abs(x)), x);
}

Real fovea::codegen::emitAtan2(MathBuilder &b, Real y, Real x) {
  Real ax = b.abs(x), ay = b.abs(y);
  Condition isSteep = !(ay < ax);
  Real low = b.select(isSteep, ax, ay), high = b.select(isSteep, ay, ax);
  // A NaN is in the quotient wherever it came from.
  Real quotient =
      b.select((low == inf) & (high == inf), b.real(1.0), low / high);
  quotient = b.select(high == 0.0, low, quotient);
  Real angle = atanOfPositive(b, quotient);
  angle = b.select(isSteep & (ay > ax), (piLow / 2 - angle) + pi / 2, angle);
  angle = b.select(isNegative(b.bitsOf(x)), (piLow - angle) + pi, angle);
  return b.withSign(angle, y);
}

/// asin(v) for v = |x| up to 1/2, else for v = sqrt((1 - |x|) / 2). Then
/// asin(|x|) is pi/2 less twice that.
static Real asinPart(MathBuilder &b, Real a, Condition isSmall) {
  Real z = b.select(isSmall, a * a, (1.0 - a) * 0.5);
  Real v = b.select(isSmall, a, b.sqrt(z));
  return b.fma(v * z, b.polynomial(tables::asin64, z), v);
}

Real fovea::codegen::emitAsin(MathBuilder &b, Real x) {
  Real a = b.abs(x);
  Condition isSmall = a <= 0.5;
  Real part = asinPart(b, a, isSmall);
  Real large = (piLow / 2 - 2.0 * part) + pi / 2;
  return b.withSign(b.select(isSmall, part, large), x);
}

Real fovea::codegen::emitAcos(MathBuilder &b, Real x) {
  Real a = b.abs(x);
  Condition isSmall = a <= 0.5;
  Real part = asinPart(b, a, isSmall);
  Real small = (piLow / 2 - b.withSign(part, x)) + pi / 2;
  Real twice = part + part;
  Real large = b.select(x < 0.0, (piLow - twice) + pi, twice);
  return b.select(isSmall, small, large);
}
