//===- Functions.cpp - functions with the same bits everywhere ------------===//
//
// Each argument is reduced to a short interval, on which a Taylor polynomial
// is exact to more than the 53 bits of a double. Where the leading terms need
// more, they are sums of two doubles: Dekker (1971), A floating-point technique
// for extending the available precision. Nothing is fused: the file is built
// with -ffp-contract=off.
//
//===----------------------------------------------------------------------===//

#include "runtime/Functions.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

using namespace fovea::runtime;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double noNumber = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Sums of two doubles
//===----------------------------------------------------------------------===//

namespace {
/// The unrounded sum of two numbers; `low` is below half an ulp of `high`.
struct Pair {
  double high, low;
};
} // namespace

static Pair sumOf(double a, double b) {
  double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

/// The number in two parts of 26 bits.
static Pair halvesOf(double x) {
  double scaled = 134217729 * x; // 2^27 + 1
  double high = scaled - (scaled - x);
  return {high, x - high};
}

static Pair productOf(double a, double b) {
  double product = a * b;
  Pair x = halvesOf(a), y = halvesOf(b);
  return {product,
          ((x.high * y.high - product) + x.high * y.low + x.low * y.high) +
              x.low * y.low};
}

static Pair sumOf(Pair a, Pair b) {
  Pair sum = sumOf(a.high, b.high);
  return sumOf(sum.high, sum.low + (a.low + b.low));
}

static Pair productOf(Pair a, Pair b) {
  Pair product = productOf(a.high, b.high);
  return sumOf(product.high, product.low + (a.high * b.low + a.low * b.high));
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

/// The terms first, first + step, .. of the factorials' reciprocals, with
/// alternating signs if `sign` is -1.
template <size_t count>
static constexpr std::array<double, count> taylor(int first, int step,
                                                  double sign) {
  std::array<double, count> terms = {};
  double factorial = 1, factor = 1;
  for (int i = 2; i <= first; ++i)
    factorial *= i;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    terms[i] = factor / factorial;
    for (int k = 1; k <= step; ++k)
      factorial *= first + i * step + k;
    factor *= sign;
  }
  return terms;
}

template <size_t count>
static double polynomial(const std::array<double, count> &terms, double x) {
  double result = terms[count - 1];
  for (size_t i = count - 1; i-- > 0;)
    result = result * x + terms[i];
  return result;
}

/// The nearest whole number, for |x| below 2^51.
static double wholeOf(double x) {
  constexpr double shift = 6755399441055744; // 1.5 * 2^52
  return (x + shift) - shift;
}

/// 2^exponent, for normal numbers.
static double powerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

// log 2; the first part has 32 bits, so its multiples are exact.
static constexpr double log2High = 0x1.62e42feep-1,
                        log2Low = 0x1.a39ef35793c76p-33,
                        log2Lowest = 0x1.80b6p-88;

static double expOf(Pair x) {
  if (!(x.high < 710))
    return x.high >= 710 ? infinity : x.high;
  if (x.high < -746)
    return 0;
  // x = n log 2 + rest, with |rest| below 0.35
  double n = wholeOf(x.high * 1.4426950408889634);
  Pair rest = sumOf(x.high - n * log2High, x.low - n * log2Low);
  static constexpr auto terms = taylor<13>(2, 1, 1);
  double r = rest.high;
  double small = rest.low * (1 + r) + r * r * polynomial(terms, r);
  Pair one = sumOf(1, r);
  double result = one.high + (one.low + small);
  // Two factors: 2^n itself may be no number.
  int half = static_cast<int>(n) / 2;
  return result * powerOfTwo(half) * powerOfTwo(static_cast<int>(n) - half);
}

double fovea::runtime::expOf(double x) { return ::expOf(Pair{x, 0}); }

/// The logarithm of a positive finite number.
static Pair logPair(double x) {
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    exponent = -54;
  }
  // x = 2^exponent m, with m between the roots of 1/2 and 2
  auto bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FFull << 52);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 (s + s^3 / 3 + s^5 / 5 + ..) with s = (m - 1) / (m + 1)
  double top = m - 1;
  Pair bottom = sumOf(2, top);
  double quotient = top / bottom.high;
  Pair back = productOf(quotient, bottom.high);
  double left = (top - back.high) - back.low - quotient * bottom.low;
  Pair s = sumOf(quotient, left / bottom.high);
  Pair square = productOf(s, s);
  static constexpr std::array<double, 10> terms = {
      1. / 5,  1. / 7,  1. / 9,  1. / 11, 1. / 13,
      1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23};
  constexpr Pair third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
  double rest = square.high * square.high * polynomial(terms, square.high);
  Pair series = sumOf(productOf(square, third), Pair{rest, 0});
  Pair ofM = sumOf(s, productOf(s, series));
  double n = exponent;
  Pair ofPower = sumOf(Pair{n * log2High, 0},
                       sumOf(productOf(n, log2Low), Pair{n * log2Lowest, 0}));
  return sumOf(ofPower, Pair{2 * ofM.high, 2 * ofM.low});
}

double fovea::runtime::logOf(double x) {
  if (!(x > 0 && x < infinity))
    return x == 0 ? -infinity : x > 0 ? x : noNumber;
  return logPair(x).high;
}

double fovea::runtime::log1pOf(double x) {
  if (!(x > -1 && x < infinity))
    return x == -1 ? -infinity : x > 0 ? x : noNumber;
  Pair sum = sumOf(1, x);
  if (sum.high == 1)
    return x;
  Pair result = logPair(sum.high);
  return result.high + (result.low + sum.low / sum.high);
}

double fovea::runtime::powOf(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (x < 0) {
    double whole = wholeOf(y);
    if (whole != y)
      return noNumber;
    bool isOdd = whole - 2 * wholeOf(whole / 2) != 0;
    return isOdd ? -powOf(-x, y) : powOf(-x, y);
  }
  if (!(x > 0 && x < infinity))
    return std::isnan(x) ? x : (x == 0) == (y > 0) ? 0 : infinity;
  Pair log = logPair(x);
  if (double power = log.high * y; !(std::fabs(power) < 1000))
    return expOf(power);
  Pair power = productOf(log, Pair{y, 0});
  return ::expOf(power);
}

/// The sine or cosine of a quarter turn's eighth at most, on either side.
static double sineNear0(Pair x) {
  static constexpr auto terms = taylor<9>(3, 2, -1);
  double square = x.high * x.high;
  return x.high + (x.low - x.high * square * polynomial(terms, square));
}

static double cosineNear0(Pair x) {
  static constexpr auto terms = taylor<9>(4, 2, -1);
  double square = x.high * x.high, half = square / 2;
  Pair first = sumOf(1, -half);
  return first.high +
         (first.low +
          (square * square * polynomial(terms, square) - x.high * x.low));
}

/// sin(2 pi (x + quarters / 4))
static double sineOf(double x, int64_t quarters) {
  if (!(std::fabs(x) < 0x1p50))
    return noNumber;
  double whole = wholeOf(4 * x);
  quarters += static_cast<int64_t>(whole);
  constexpr Pair turn = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};
  Pair angle = productOf(Pair{x - whole / 4, 0}, turn);
  double value = quarters % 2 != 0 ? cosineNear0(angle) : sineNear0(angle);
  return (quarters & 2) != 0 ? -value : value;
}

/// Shewchuk (1997), Adaptive precision floating-point arithmetic: the sum of
/// `parts`, which do not overlap, in ascending order.
double fovea::runtime::exactSum(const std::vector<double> &numbers) {
  std::vector<double> parts;
  for (double number : numbers) {
    if (!std::isfinite(number))
      return std::accumulate(numbers.begin(), numbers.end(), 0.0);
    size_t kept = 0;
    for (double part : parts) {
      Pair sum = sumOf(number, part);
      if (sum.low != 0)
        parts[kept++] = sum.low;
      number = sum.high;
    }
    parts.resize(kept);
    parts.push_back(number);
  }
  Pair sum = {0, 0};
  while (!parts.empty() && sum.low == 0) {
    sum = sumOf(parts.back(), sum.high);
    parts.pop_back();
  }
  // Exactly between two numbers, the parts that are left decide.
  if (!parts.empty() && parts.back() * sum.low > 0)
    if (Pair next = sumOf(sum.high, 2 * sum.low); next.low == 0)
      return next.high;
  return sum.high;
}

double fovea::runtime::sinOfTurns(double x) { return sineOf(x, 0); }
double fovea::runtime::cosOfTurns(double x) { return sineOf(x, 1); }
