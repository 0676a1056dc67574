//===- Exponentials.cpp - exp and what is made of it ----------------------===//
//
// exp(x) = 2^n exp(r) with x = n log(2) + r and |r| <= log(2) / 2 (Cody and
// Waite, 1980). n is rounded by adding a number so large that its last bit is
// worth 1. The low bits of that sum are then n as a whole number, and shifted
// into the exponent field they are 2^n.
//
//===----------------------------------------------------------------------===//

#include "codegen/math/Functions.h"
#include "codegen/math/MathTables.h"

using namespace fovea::codegen;

static constexpr double log2OfE = 1.4426950408889634;

namespace {

/// x = n log(2) + r, with `biased` the whole number n + bias in its low bits.
struct Reduced {
  Real r;
  Bits biased;
};

} // namespace

/// 1.5 * 2^23 or 1.5 * 2^52: adding it rounds to a whole number.
static double rounder(MathBuilder &b) {
  return b.isSingle() ? 12582912.0 : 6755399441055744.0;
}

static Reduced reduce(MathBuilder &b, Real x, int64_t bias) {
  double round = rounder(b) + static_cast<double>(bias);
  Real shifted = b.fma(x, b.real(log2OfE), b.real(round));
  Real n = shifted - round;
  // log(2) in two parts, each rounded to the type; the first product with n
  // cancels x exactly.
  double high = b.isSingle() ? 0.693147182464599609375 : 0.6931471805599453094;
  double low = b.isSingle() ? -1.90465429995776804e-09 : 2.3190468138462996e-17;
  Real r = b.fma(n, b.real(-high), x);
  return {b.fma(n, b.real(-low), r), b.bitsOf(shifted)};
}

/// p with exp(r) = 1 + r + r^2 p(r), times `scale`, a power of two.
static llvm::SmallVector<double> expTable(MathBuilder &b, double scale) {
  llvm::ArrayRef<double> table = b.isSingle()
                                     ? llvm::ArrayRef<double>(tables::exp32)
                                     : llvm::ArrayRef<double>(tables::exp64);
  llvm::SmallVector<double> scaled;
  for (double coefficient : table)
    scaled.push_back(coefficient * scale);
  return scaled;
}

static llvm::SmallVector<double> wholeExpTable(MathBuilder &b, double scale) {
  llvm::SmallVector<double> table = expTable(b, scale);
  table.insert(table.begin(), {scale, scale});
  return table;
}

/// 2^(n - 1) where the low bits hold n - 1 plus the bias of the exponent.
static Real powerOfTwo(MathBuilder &b, Bits biased) {
  return b.fromBits(biased << b.mantissaBits());
}

/// p * 2^n for a sum that was reduced with bias 2046, in two steps: the first
/// is exact, the second rounds only where the result is a denormal number.
static Real scaleTwice(MathBuilder &b, Real p, Bits sum) {
  Bits biased = sum & 0xfff;
  Bits half = biased >> 1;
  return p * powerOfTwo(b, half) * powerOfTwo(b, biased - half);
}

/// exp(x) * 2^shift in f64.
static Real expShifted(MathBuilder &b, Real x, int64_t shift,
                       std::optional<Real> correction = std::nullopt) {
  x = b.atMost(b.atLeast(x, -746), 712);
  Reduced reduced = reduce(b, x, 2046);
  Real r = correction ? reduced.r + *correction : reduced.r;
  return scaleTwice(b, b.polynomial(wholeExpTable(b, 1), r),
                    reduced.biased + shift);
}

/// In f32 one step is enough: the coefficients are doubled and 2^(n - 1) is
/// finite up to n = 128. At n = -126 it is 0: small results are flushed.
static Real scaleOnce(MathBuilder &b, Reduced reduced) {
  return b.polynomial(wholeExpTable(b, 2), reduced.r) *
         powerOfTwo(b, reduced.biased);
}

Real fovea::codegen::emitExp(MathBuilder &b, Real x) {
  if (!b.isSingle())
    return expShifted(b, x, 0);
  return scaleOnce(b, reduce(b, b.atMost(b.atLeast(x, -87.34), 89), 126));
}

Real fovea::codegen::emitExpOfSum(MathBuilder &b, Real x, Real correction) {
  return expShifted(b, x, 0, correction);
}

/// 2^x = 2^n exp((x - n) log(2)).
Real fovea::codegen::emitExp2(MathBuilder &b, Real x) {
  x = b.isSingle() ? b.atMost(b.atLeast(x, -126), 128.5)
                   : b.atMost(b.atLeast(x, -1076), 1026);
  double round = rounder(b) + (b.isSingle() ? 126 : 2046);
  Real shifted = x + round;
  Real r = (x - (shifted - round)) * 0.6931471805599453094;
  Reduced reduced = {r, b.bitsOf(shifted)};
  if (b.isSingle())
    return scaleOnce(b, reduced);
  return scaleTwice(b, b.polynomial(wholeExpTable(b, 1), r), reduced.biased);
}

/// 2^n (exp(r) - 1) + (2^n - 1), where exp(r) - 1 has no cancellation. All of
/// it is halved until the last step, so that n may be 128 or 1024.
Real fovea::codegen::emitExpm1(MathBuilder &b, Real x) {
  Real inside = b.isSingle() ? b.atMost(b.atLeast(x, -87), 89)
                             : b.atMost(b.atLeast(x, -708), 710);
  Reduced reduced = reduce(b, inside, b.isSingle() ? 126 : 1022);
  Real r = reduced.r;
  Real part = b.fma(r * r, b.polynomial(expTable(b, 1), r), r);
  Real power = powerOfTwo(b, reduced.biased);
  Real half = b.fma(power, part, power - 0.5);
  return b.withSign(half + half, x);
}

/// |x| p(x^2) / q(x^2) up to a bound where the result is 1, with x's sign.
static Real oddRational(MathBuilder &b, Real x, double bound,
                        llvm::ArrayRef<double> top,
                        llvm::ArrayRef<double> bottom) {
  Real a = b.atMost(b.abs(x), bound);
  Real z = a * a;
  Real y = a * b.polynomial(top, z) / b.polynomial(bottom, z);
  return b.withSign(b.atMost(y, 1), x);
}

Real fovea::codegen::emitTanh(MathBuilder &b, Real x) {
  if (b.isSingle())
    return oddRational(b, x, 9.02, tables::tanh32Top, tables::tanh32Bottom);
  // tanh(22) is 1 in f64.
  Real a = b.atMost(b.abs(x), 22);
  Real grown = emitExpm1(b, a + a);
  return b.withSign(grown / (grown + 2.0), x);
}

Real fovea::codegen::emitSinh(MathBuilder &b, Real x) {
  Real a = b.abs(x);
  Real grown = emitExpm1(b, b.atMost(a, 1));
  Real small = 0.5 * (grown + grown / (grown + 1.0));
  Real half = expShifted(b, a, -1);
  Real large = half - 0.25 / half;
  return b.withSign(b.select(a < 1.0, small, large), x);
}

Real fovea::codegen::emitCosh(MathBuilder &b, Real x) {
  Real half = expShifted(b, b.abs(x), -1);
  return half + 0.25 / half;
}

/// erfc(a) for a >= 0 in f64: exp(a^2) erfc(a) (1 + 2 a) is smooth in (a - 4) /
/// (a + 4) (Shepherd and Laframboise, 1981). The rounding error of a^2 is known
/// and corrected.
static Real erfcOfPositive(MathBuilder &b, Real a) {
  a = b.atMost(a, 27.5);
  Real scaled = b.polynomial(tables::erfcx64, (a - 4.0) / (a + 4.0));
  Real square = a * a;
  Real error = b.fma(a, a, -square);
  return scaled / (1.0 + 2.0 * a) * emitExpOfSum(b, -square, -error);
}

Real fovea::codegen::emitErf(MathBuilder &b, Real x) {
  if (b.isSingle())
    return oddRational(b, x, 3.93, tables::erf32Top, tables::erf32Bottom);
  Real a = b.abs(x);
  Real inside = b.atMost(a, 1);
  Real small = inside * b.polynomial(tables::erf64, inside * inside);
  Real large = 1.0 - erfcOfPositive(b, a);
  return b.withSign(b.select(a < 1.0, small, large), x);
}

Real fovea::codegen::emitErfc(MathBuilder &b, Real x) {
  Real y = erfcOfPositive(b, b.abs(x));
  return b.select(x < 0.0, 2.0 - y, y);
}
