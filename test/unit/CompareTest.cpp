//===- CompareTest.cpp - a NaN never agrees with anything -----------------===//

#include "dialect/reference/Compare.h"

#include <gtest/gtest.h>
#include <limits>

using namespace fovea::reference;

static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
static constexpr double inf = std::numeric_limits<double>::infinity();

static Array vector(std::vector<double> values) {
  return {{static_cast<int64_t>(values.size())}, values, false};
}

TEST(Compare, EqualArraysAgree) {
  EXPECT_TRUE(agree(vector({1, 2}), vector({1, 2}), 0));
  EXPECT_TRUE(agree(vector({}), vector({}), 0));
  EXPECT_TRUE(agree(vector({inf, -inf}), vector({inf, -inf}), 0));
}

// A NaN on either side or on both, before or after a larger difference, is a
// disagreement at any tolerance.
TEST(Compare, NaNNeverAgrees) {
  for (double tolerance : {0.0, 1.0, 1e300, inf})
    for (size_t place : {0, 1, 2}) {
      std::vector<double> plain = {1, 2, 3}, broken = plain;
      broken[place] = notANumber;
      EXPECT_FALSE(agree(vector(broken), vector(plain), tolerance));
      EXPECT_FALSE(agree(vector(plain), vector(broken), tolerance));
      EXPECT_FALSE(agree(vector(broken), vector(broken), tolerance));
      EXPECT_EQ(maxDifference(vector(broken), vector(plain)), inf);
    }
}

TEST(Compare, InfinityIsNotANumberNearby) {
  EXPECT_FALSE(agree(vector({inf}), vector({1e308}), inf));
  EXPECT_FALSE(agree(vector({inf}), vector({-inf}), inf));
}

TEST(Compare, ShapesMatter) {
  EXPECT_FALSE(agree(Array::zeros({2, 3}), Array::zeros({3, 2}), 1));
  EXPECT_FALSE(agree(Array::zeros({6}), Array::zeros({2, 3}), 1));
  EXPECT_FALSE(agree(Array::zeros({0}), Array::zeros({0, 2}), 1));
}

// Relative to the larger number, absolute below 1.
TEST(Compare, DifferenceIsRelative) {
  EXPECT_DOUBLE_EQ(maxDifference(vector({100}), vector({101})), 1.0 / 101);
  EXPECT_DOUBLE_EQ(maxDifference(vector({0.25}), vector({0.5})), 0.25);
  EXPECT_TRUE(agree(vector({1e20}), vector({1e20 + 1e6}), 1e-12));
  EXPECT_FALSE(agree(vector({1}), vector({1.1}), notANumber));
  EXPECT_FALSE(agree(vector({1}), vector({1}), -1));
}

TEST(Compare, NamesMatter) {
  Arrays a = {{"x", vector({1})}}, b = {{"y", vector({1})}};
  EXPECT_FALSE(agree(a, b, 1));
  EXPECT_EQ(explainDifference(a, b, 1), "'x' is only in the first");
  b = a;
  EXPECT_TRUE(agree(a, b, 0));
  b["x"].values[0] = notANumber;
  EXPECT_EQ(explainDifference(a, b, 1), "'x' is 1 but nan at element 0");
}
