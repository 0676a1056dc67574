//===- FunctionsTest.cpp - the errors of the runtime's functions ----------===//

#include "runtime/Functions.h"
#include "runtime/Philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

using namespace fovea::runtime;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// The distance of `got` from `want`, in ulp of `want`.
static double ulpsBetween(double got, long double want) {
  auto near = static_cast<double>(want);
  double ulp = std::nextafter(std::fabs(near), infinity) - std::fabs(near);
  return static_cast<double>(std::fabs(got - want) / ulp);
}

/// A number between `low` and `high`: the `number`th of a series.
static double between(double low, double high, uint32_t number) {
  auto words = philox({number, 0, 0, 0}, {1, 2});
  double unit = words[0] * 0x1p-32 + words[1] * 0x1p-64;
  return low + (high - low) * unit;
}

using Exact = std::function<long double(long double)>;

/// The largest error between two numbers.
static double errorOf(double (*ours)(double), const Exact &exact, double low,
                      double high) {
  double largest = 0;
  for (uint32_t number = 0; number < 100000; ++number) {
    double x = between(low, high, number);
    largest = std::max(largest, ulpsBetween(ours(x), exact(x)));
  }
  return largest;
}

TEST(Functions, Exponential) {
  Exact exact = [](long double x) { return std::exp(x); };
  EXPECT_LT(errorOf(expOf, exact, -1, 1), 0.7);
  EXPECT_LT(errorOf(expOf, exact, -708, 709.7), 0.7);
  EXPECT_LT(errorOf(expOf, exact, -745, -708), 1);
  EXPECT_EQ(expOf(0), 1);
  EXPECT_EQ(expOf(-infinity), 0);
  EXPECT_EQ(expOf(-800), 0);
  EXPECT_EQ(expOf(710), infinity);
  EXPECT_EQ(expOf(infinity), infinity);
  EXPECT_TRUE(std::isnan(expOf(NAN)));
}

TEST(Functions, Logarithm) {
  Exact exact = [](long double x) { return std::log(x); };
  EXPECT_LT(errorOf(logOf, exact, 0, 1), 0.6);
  EXPECT_LT(errorOf(logOf, exact, 0.9, 1.1), 0.6);
  EXPECT_LT(errorOf(logOf, exact, 0, 1e-300), 0.6);
  EXPECT_LT(errorOf(logOf, exact, 0, 1e-310), 0.6);
  EXPECT_LT(errorOf(logOf, exact, 0, 1e300), 0.6);
  EXPECT_EQ(logOf(1), 0);
  EXPECT_EQ(logOf(0), -infinity);
  EXPECT_EQ(logOf(infinity), infinity);
  EXPECT_TRUE(std::isnan(logOf(-1)));
  EXPECT_TRUE(std::isnan(logOf(NAN)));
}

TEST(Functions, LogarithmOfOnePlus) {
  Exact exact = [](long double x) { return std::log1p(x); };
  EXPECT_LT(errorOf(log1pOf, exact, -1, 1), 1);
  EXPECT_LT(errorOf(log1pOf, exact, -1e-9, 1e-9), 1);
  EXPECT_LT(errorOf(log1pOf, exact, 0, 1e20), 1);
  EXPECT_EQ(log1pOf(-1), -infinity);
  EXPECT_EQ(log1pOf(1e-20), 1e-20);
  EXPECT_EQ(log1pOf(infinity), infinity);
  EXPECT_TRUE(std::isnan(log1pOf(-2)));
}

TEST(Functions, Power) {
  double largest = 0;
  for (uint32_t number = 0; number < 100000; ++number) {
    double x = between(0, 3, 2 * number),
           y = between(-300, 600, 2 * number + 1);
    long double exact = std::pow(static_cast<long double>(x), y);
    if (exact > 1e-300 && exact < 1e300)
      largest = std::max(largest, ulpsBetween(powOf(x, y), exact));
  }
  EXPECT_LT(largest, 1);
  // Corrections of Adam.
  EXPECT_EQ(powOf(0.999, 1), 0.999);
  EXPECT_EQ(powOf(0.9, 1), 0.9);
  for (int n = 0; n < 20; ++n) {
    EXPECT_EQ(powOf(3, n), std::pow(3.0, n));
    EXPECT_EQ(powOf(0.5, n), std::pow(0.5, n));
    EXPECT_EQ(powOf(-3, n), std::pow(-3.0, n));
  }
  EXPECT_EQ(powOf(0.9, 1e9), 0);
  EXPECT_EQ(powOf(1.1, 1e9), infinity);
  EXPECT_EQ(powOf(0, 2), 0);
  EXPECT_EQ(powOf(0, -2), infinity);
  EXPECT_EQ(powOf(infinity, 2), infinity);
  EXPECT_EQ(powOf(infinity, -2), 0);
  EXPECT_EQ(powOf(1, infinity), 1);
  EXPECT_EQ(powOf(0.5, infinity), 0);
  EXPECT_EQ(powOf(NAN, 0), 1);
  EXPECT_TRUE(std::isnan(powOf(NAN, 1)));
  EXPECT_TRUE(std::isnan(powOf(-2, 0.5)));
}

TEST(Functions, SumsAreRoundedOnce) {
  EXPECT_EQ(exactSum({}), 0);
  EXPECT_EQ(exactSum({1e100, 1, -1e100}), 1);
  EXPECT_EQ(exactSum({1, -infinity}), -infinity);
  EXPECT_TRUE(std::isnan(exactSum({infinity, -infinity})));
  // Halfway between two numbers, and a little more on either side.
  EXPECT_EQ(exactSum({1, 0x1p-53}), 1);
  EXPECT_EQ(exactSum({1, 0x1p-53, 0x1p-150}), 1 + 0x1p-52);
  EXPECT_EQ(exactSum({1, 0x1p-53, -0x1p-150}), 1);
  EXPECT_EQ(exactSum({1 + 0x1p-52, 0x1p-53}), 1 + 0x1p-51);
  EXPECT_EQ(exactSum({1 + 0x1p-52, 0x1p-53, -0x1p-150}), 1 + 0x1p-52);
  std::vector<double> numbers;
  for (uint32_t number = 0; number < 1000; ++number)
    numbers.push_back(-expOf(between(-20, 20, number)));
  double sum = exactSum(numbers);
  std::reverse(numbers.begin(), numbers.end());
  EXPECT_EQ(exactSum(numbers), sum);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(exactSum(numbers), sum);
  EXPECT_NEAR(std::accumulate(numbers.begin(), numbers.end(), 0.0L), sum, 1e-6);
}

TEST(Functions, SineAndCosine) {
  static constexpr long double turn = 2 * std::numbers::pi_v<long double>;
  Exact sine = [](long double x) { return std::sin(turn * x); };
  Exact cosine = [](long double x) { return std::cos(turn * x); };
  EXPECT_LT(errorOf(sinOfTurns, sine, -0.125, 0.125), 1);
  EXPECT_LT(errorOf(cosOfTurns, cosine, -0.125, 0.125), 1);
  // The rest of the circle is the same eighths: the reduction is exact.
  for (uint32_t number = 0; number < 1000; ++number) {
    double x = std::ldexp(std::round(between(-0x1p40, 0x1p40, number)), -43);
    for (double turns : {-3.0, 1.0, 7.0}) {
      EXPECT_EQ(sinOfTurns(x + turns), sinOfTurns(x));
      EXPECT_EQ(sinOfTurns(x + turns + 0.25), cosOfTurns(x));
      EXPECT_EQ(cosOfTurns(x + turns + 0.5), -cosOfTurns(x));
    }
  }
  for (int quarter = -9; quarter < 9; ++quarter) {
    int rest = ((quarter % 4) + 4) % 4;
    EXPECT_EQ(sinOfTurns(quarter / 4.0), rest == 1 ? 1 : rest == 3 ? -1 : 0);
    EXPECT_EQ(cosOfTurns(quarter / 4.0), rest == 0 ? 1 : rest == 2 ? -1 : 0);
  }
  EXPECT_EQ(sinOfTurns(1e-30), 2e-30 * std::numbers::pi);
  EXPECT_TRUE(std::isnan(sinOfTurns(infinity)));
}
