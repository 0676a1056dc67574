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
#include "runtime/DoublePairs.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

using namespace fovea::runtime;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double noNumber = std::numeric_limits<double>::quiet_NaN();

/// 2^exponent, for normal numbers.
static double powerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

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
static Pair logAsPair(double x) {
  bool isNormal = x >= std::numeric_limits<double>::min();
  return isNormal ? logPair(x, 0) : logPair(x * 0x1p54, -54);
}

double fovea::runtime::logOf(double x) {
  if (!(x > 0 && x < infinity))
    return x == 0 ? -infinity : x > 0 ? x : noNumber;
  return logAsPair(x).high;
}

double fovea::runtime::log1pOf(double x) {
  if (!(x > -1 && x < infinity))
    return x == -1 ? -infinity : x > 0 ? x : noNumber;
  Pair sum = sumOf(1, x);
  if (sum.high == 1)
    return x;
  Pair result = logAsPair(sum.high);
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
  Pair log = logAsPair(x);
  if (double power = log.high * y; !(std::fabs(power) < 1000))
    return expOf(power);
  Pair power = productOf(log, Pair{y, 0});
  return ::expOf(power);
}

/// sin(2 pi (x + quarters / 4))
static double sineOf(double x, uint64_t quarters) {
  if (!(std::fabs(x) < 0x1p50))
    return noNumber;
  Turned turned = turnedBy(x);
  quarters += turned.quarters;
  double value =
      quarters % 2 != 0 ? cosineNear0(turned.angle) : sineNear0(turned.angle);
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
