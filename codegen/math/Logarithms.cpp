//===- Logarithms.cpp - log and what is made of it ------------------------===//
//
// x = 2^e m with m in [sqrt(1/2), sqrt(2)]; log(x) = e log(2) + log(m). In f32
// log(m) is Cephes's form f - f^2 / 2 + f^3 p(f) with f = m - 1; in f64 it has
// the form of fdlibm's e_log.c, in s = f / (2 + f). The coefficients are our
// own.
//
//===----------------------------------------------------------------------===//

#include "codegen/math/Functions.h"
#include "codegen/math/MathTables.h"

#include <cmath>
#include <limits>

using namespace fovea::codegen;

static constexpr double inf = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

namespace {

/// x = 2^exponent (1 + f) for positive finite x.
struct Parts {
  Real exponent, f;
};

} // namespace

static Parts split(MathBuilder &b, Real x) {
  int64_t mantissaBits = b.mantissaBits();
  // Denormal numbers are scaled into the normal range first.
  int64_t scaleBits = b.isSingle() ? 24 : 54;
  Condition isTiny =
      x < (b.isSingle() ? 1.17549435e-38 : 2.2250738585072014e-308);
  x = b.select(isTiny, x * std::ldexp(1.0, scaleBits), x);
  // Counted from sqrt(1/2), and from so far below that no number is negative.
  int64_t start = b.isSingle() ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  int64_t bias = b.isSingle() ? 128 : 1024;
  Bits bits = b.bitsOf(x);
  Bits biased = (bits - (start - (bias << mantissaBits))) >> mantissaBits;
  Real m = b.fromBits(bits - (biased << mantissaBits) + (bias << mantissaBits));
  // A small whole number becomes a real in the low bits of a large one.
  double large = b.isSingle() ? 8388608.0 : 4503599627370496.0;
  Real exponent = b.fromBits(biased + b.bitsOf(b.real(large)));
  double offset = large + static_cast<double>(bias);
  exponent = exponent -
             b.select(isTiny, b.real(offset + static_cast<double>(scaleBits)),
                      b.real(offset));
  return {exponent, m - 1.0};
}

/// f + rest = log(1 + f), where f is the larger part.
static Real logRest(MathBuilder &b, Real f) {
  if (b.isSingle()) {
    Real square = f * f;
    Real cubic = square * f * b.polynomial(tables::log32, f);
    return b.fma(square, b.real(-0.5), cubic);
  }
  Real s = f / (2.0 + f);
  Real z = s * s;
  Real half = 0.5 * (f * f);
  return s * (half + z * b.polynomial(tables::log64, z)) - half;
}

/// NaN below 0, -inf at 0, and infinity and NaN themselves.
static Real atEdges(MathBuilder &b, Real x, Real y) {
  y = b.select(x > 0.0, y,
               b.select(x == 0.0, b.real(-inf), b.real(notANumber)));
  return b.select(x < inf, y, b.select(x == inf, x, x + x));
}

/// log(x) up to the edges; log(2) in two parts, the first with trailing
/// zeros so that its product with the exponent is exact.
static Real logInside(MathBuilder &b, Real x) {
  Parts parts = split(b, x);
  double high = b.isSingle() ? 0.693359375 : 0x1.62e42fee00000p-1;
  double low = b.isSingle() ? -2.12194440054690583e-4 : 0x1.a39ef35793c76p-33;
  Real rest = b.fma(parts.exponent, b.real(low), logRest(b, parts.f));
  return b.fma(parts.exponent, b.real(high), parts.f + rest);
}

Real fovea::codegen::emitLog(MathBuilder &b, Real x) {
  return atEdges(b, x, logInside(b, x));
}

/// Powers of two are exact.
Real fovea::codegen::emitLog2(MathBuilder &b, Real x) {
  Parts parts = split(b, x);
  Real log = parts.f + logRest(b, parts.f);
  // log2(e) in two parts: the product is as exact as the logarithm.
  double high =
      b.isSingle() ? 1.44269502162933349609375 : 1.4426950408889634074;
  double low = b.isSingle() ? 1.92596299112661746e-8 : 2.0355273740931033e-17;
  Real scaled = b.fma(log, b.real(high), log * low);
  return atEdges(b, x, parts.exponent + scaled);
}

Real fovea::codegen::emitLog10(MathBuilder &b, Real x) {
  if (b.isSingle())
    return b.inDouble(x, [](MathBuilder &wide, llvm::ArrayRef<Real> args) {
      return emitLog10(wide, args[0]);
    });
  return emitLog(b, x) * 0.43429448190325182765;
}

/// log(u) + (rounding error of u) / u with u = 1 + x.
Real fovea::codegen::emitLog1p(MathBuilder &b, Real x) {
  Real u = 1.0 + x;
  Real added = u - 1.0;
  Real error = (1.0 - (u - added)) + (x - added);
  Real correction = b.select((u > 0.0) & (u < inf), error / u, b.real(0.0));
  return b.withSign(emitLog(b, u) + correction, x);
}

Real fovea::codegen::emitCbrt(MathBuilder &b, Real x) {
  Real a = b.abs(x);
  Real guess = emitExp(b, emitLog(b, a) * (1.0 / 3.0));
  // One step of Newton's method.
  Real y = guess - (guess - a / (guess * guess)) * (1.0 / 3.0);
  y = b.select((a > 0.0) & (a < inf), y, a);
  return b.withSign(y, x);
}

namespace {

/// A sum of two reals; the second is below the last bit of the first.
struct Pair {
  Real high, low;
};

} // namespace

/// Dekker's sum, without error where the first is the larger one or 0.
static Pair add(Real larger, Real smaller) {
  Real high = larger + smaller;
  return {high, smaller - (high - larger)};
}

/// log(x) to about 2^-68 for positive finite x: y log(x) may be 700, and its
/// error is the relative error of the power.
static Pair preciseLog(MathBuilder &b, Real x) {
  Parts parts = split(b, x);
  // s = f / (2 + f) with the error of the sum and of the quotient.
  Real divisor = 2.0 + parts.f;
  Real divisorLow = parts.f - (divisor - 2.0);
  Real s = parts.f / divisor;
  Real left = b.fma(-s, divisor, parts.f);
  Real sLow = (left - s * divisorLow) / divisor;
  Real z = s * s;
  Real logHigh = s + s;
  Real logLow = b.fma(z * s, b.polynomial(tables::log64, z), sLow + sLow);
  // The product is 0 or the larger one.
  Pair sum = add(parts.exponent * 0x1.62e42fee00000p-1, logHigh);
  Real low = b.fma(parts.exponent, b.real(0x1.a39ef35793c76p-33), logLow);
  return add(sum.high, sum.low + low);
}

/// |x|^y = exp(y log|x|), and the sign of an odd power.
Real fovea::codegen::emitPow(MathBuilder &b, Real x, Real y) {
  Real a = b.abs(x);
  Pair log = preciseLog(b, a);
  Real high = b.select(a == 0.0, b.real(-inf), log.high);
  high = b.select(a < inf, high, a);
  Real product = y * high;
  Real low = b.fma(y, high, -product) + y * log.low;
  low = b.select(b.abs(product) < 1e4, low, b.real(0.0));
  Real power = emitExpOfSum(b, product, low);

  Condition isWhole = b.floor(y) == y;
  Real half = y * 0.5;
  Condition isOdd = isWhole & (b.floor(half) != half);
  Condition isMinus = isNegative(b.bitsOf(x));
  power = b.select(isOdd & isMinus, -power, power);
  Condition hasNoPower = (x < 0.0) & (a < inf) & !isWhole;
  power = b.select(hasNoPower, b.real(notANumber), power);
  // One is left where a NaN or an infinity would win: 1^y, x^0 and -1^inf.
  Condition isOne = (x == 1.0) | (y == 0.0);
  isOne = isOne | ((x == -1.0) & (b.abs(y) == inf));
  return b.select(isOne, b.real(1.0), power);
}
