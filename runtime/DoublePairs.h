//===- DoublePairs.h - sums of two doubles, and functions -------*- C++ -*-===//
//
// The parts of runtime/Functions.h that have no branch, for loops over many
// numbers: a compiler can turn them into vectors, with the same bits. Dekker
// (1971), A floating-point technique for extending the available precision.
// Files that include this header are built with -ffp-contract=off.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DOUBLEPAIRS_H
#define FOVEA_RUNTIME_DOUBLEPAIRS_H

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

/// A call in a loop would keep it from becoming vectors.
#define FOVEA_IN_LOOPS [[gnu::always_inline]] inline

namespace fovea::runtime {

/// The unrounded sum of two numbers; `low` is below half an ulp of `high`.
struct Pair {
  double high, low;
};

FOVEA_IN_LOOPS Pair sumOf(double a, double b) {
  double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

/// The number in two parts of 26 bits.
FOVEA_IN_LOOPS Pair halvesOf(double x) {
  double scaled = 134217729 * x; // 2^27 + 1
  double high = scaled - (scaled - x);
  return {high, x - high};
}

FOVEA_IN_LOOPS Pair productOf(double a, double b) {
  double product = a * b;
  Pair x = halvesOf(a), y = halvesOf(b);
  return {product,
          ((x.high * y.high - product) + x.high * y.low + x.low * y.high) +
              x.low * y.low};
}

FOVEA_IN_LOOPS Pair sumOf(Pair a, Pair b) {
  Pair sum = sumOf(a.high, b.high);
  return sumOf(sum.high, sum.low + (a.low + b.low));
}

FOVEA_IN_LOOPS Pair productOf(Pair a, Pair b) {
  Pair product = productOf(a.high, b.high);
  return sumOf(product.high, product.low + (a.high * b.low + a.low * b.high));
}

/// The terms first, first + step, .. of the factorials' reciprocals, with
/// alternating signs if `sign` is -1.
template <size_t count>
constexpr std::array<double, count> taylor(int first, int step, double sign) {
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
FOVEA_IN_LOOPS double polynomial(const std::array<double, count> &terms,
                                 double x) {
  double result = terms[count - 1];
  for (size_t i = count - 1; i-- > 0;)
    result = result * x + terms[i];
  return result;
}

/// Added to a number below 2^51, it leaves the nearest whole number in the
/// lowest bits of the sum.
constexpr double wholeShift = 6755399441055744; // 1.5 * 2^52

/// The nearest whole number, for |x| below 2^51.
FOVEA_IN_LOOPS double wholeOf(double x) {
  return (x + wholeShift) - wholeShift;
}

// log 2; the first part has 32 bits, so its multiples are exact.
constexpr double log2High = 0x1.62e42feep-1, log2Low = 0x1.a39ef35793c76p-33,
                 log2Lowest = 0x1.80b6p-88;

/// The logarithm of 2^exponent x, for a normal positive number x.
FOVEA_IN_LOOPS Pair logPair(double x, int64_t exponent) {
  // x = 2^exponent m, with m between the roots of 1/2 and 2
  auto bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FFull << 52);
  bool isAbove = m > 1.4142135623730951;
  m = isAbove ? m * 0.5 : m;
  exponent += isAbove ? 1 : 0;
  // log m = 2 (s + s^3 / 3 + s^5 / 5 + ..) with s = (m - 1) / (m + 1)
  double top = m - 1;
  Pair bottom = sumOf(2, top);
  double quotient = top / bottom.high;
  Pair back = productOf(quotient, bottom.high);
  double left = (top - back.high) - back.low - quotient * bottom.low;
  Pair s = sumOf(quotient, left / bottom.high);
  Pair square = productOf(s, s);
  constexpr std::array<double, 10> terms = {1. / 5,  1. / 7,  1. / 9,  1. / 11,
                                            1. / 13, 1. / 15, 1. / 17, 1. / 19,
                                            1. / 21, 1. / 23};
  constexpr Pair third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
  double rest = square.high * square.high * polynomial(terms, square.high);
  Pair series = sumOf(productOf(square, third), Pair{rest, 0});
  Pair ofM = sumOf(s, productOf(s, series));
  // The exponent as a number, exactly.
  double n = std::bit_cast<double>(std::bit_cast<uint64_t>(wholeShift) +
                                   static_cast<uint64_t>(exponent)) -
             wholeShift;
  Pair ofPower = sumOf(Pair{n * log2High, 0},
                       sumOf(productOf(n, log2Low), Pair{n * log2Lowest, 0}));
  return sumOf(ofPower, Pair{2 * ofM.high, 2 * ofM.low});
}

/// The sine or cosine of a quarter turn's eighth at most, on either side.
FOVEA_IN_LOOPS double sineNear0(Pair x) {
  constexpr auto terms = taylor<9>(3, 2, -1);
  double square = x.high * x.high;
  return x.high + (x.low - x.high * square * polynomial(terms, square));
}

FOVEA_IN_LOOPS double cosineNear0(Pair x) {
  constexpr auto terms = taylor<9>(4, 2, -1);
  double square = x.high * x.high, half = square / 2;
  Pair first = sumOf(1, -half);
  return first.high +
         (first.low +
          (square * square * polynomial(terms, square) - x.high * x.low));
}

/// x turns, |x| below 2^50, as a number of quarters and an angle near 0.
struct Turned {
  Pair angle;
  uint64_t quarters; // modulo 4
};

FOVEA_IN_LOOPS Turned turnedBy(double x) {
  constexpr Pair turn = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};
  double shifted = 4 * x + wholeShift;
  double whole = shifted - wholeShift;
  return {productOf(Pair{x - whole / 4, 0}, turn),
          std::bit_cast<uint64_t>(shifted) & 3};
}

/// The sine, `quarters` quarters of a turn further on.
FOVEA_IN_LOOPS double chosenSine(double sine, double cosine,
                                 uint64_t quarters) {
  double value = (quarters & 1) != 0 ? cosine : sine;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ (quarters & 2)
                                                                    << 62);
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DOUBLEPAIRS_H
