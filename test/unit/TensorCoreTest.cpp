//===- TensorCoreTest.cpp - two ways to add as a tensor core does ---------===//
//
// Compares the function that compiled code calls with the interpreter's, bit
// for bit. tensor-sums.test compares models with the emulated GPU, and
// tensor-cores.test that with MMA-Sim.
//
//===----------------------------------------------------------------------===//

#include "runtime/TensorCore.h"
#include "dialect/reference/GroupedSums.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <functional>
#include <random>

using namespace fovea;
using namespace fovea::attn;

namespace {

using Draw = std::function<float(std::mt19937 &)>;

constexpr GroupedSums ofA100{8, 24, -132}, ofH100{16, 25, -133};
constexpr uint32_t exponentBits = 0x7F800000;

/// A number whose exponent is in a range, as in the format.
Draw between(uint32_t least, uint32_t most) {
  return [=](std::mt19937 &random) {
    auto others = static_cast<uint32_t>(random()) & ~exponentBits;
    auto exponent =
        static_cast<uint32_t>(least + random() % (most - least + 1));
    return std::bit_cast<float>(others | exponent << 23);
  };
}

/// Numbers near each other, of all sizes, subnormal, huge, and many zeros.
const Draw draws[] = {between(120, 130),
                      between(90, 160),
                      between(0, 3),
                      between(180, 200),
                      [](std::mt19937 &random) {
                        return std::bit_cast<float>(
                            static_cast<uint32_t>(random()));
                      },
                      [](std::mt19937 &random) {
                        return random() % 3 ? 0.0F : between(100, 140)(random);
                      }};

float roundedFactor(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isfinite(value))
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
  return std::bit_cast<float>(bits);
}

void compare(const GroupedSums &core, const Draw &draw, unsigned seed) {
  std::mt19937 random(seed);
  constexpr int64_t width = 40;
  int64_t count = static_cast<int64_t>(random() % 50);
  int64_t columns = 1 + static_cast<int64_t>(random() % width);
  std::vector<float> left(count), right(count * width), sums(width);
  for (float &factor : left)
    factor = draw(random);
  for (float &factor : right)
    factor = draw(random);
  // In two calls, as a product is cut into blocks.
  int64_t first = std::min<int64_t>(count, 16);
  auto add = [&](int64_t from, int64_t size, bool goesOn) {
    fovea_tensor_core(core.terms, core.digits, core.placeOfZero,
                      left.data() + from, right.data() + from * width, width,
                      sums.data(), columns, size, goesOn);
  };
  add(0, first, false);
  add(first, count - first, true);
  for (int64_t column = 0; column < columns; ++column) {
    std::vector<reference::Term> terms;
    for (int64_t i = 0; i < count; ++i)
      terms.push_back({roundedFactor(left[i]),
                       roundedFactor(right[i * width + column]), 0, i});
    auto expected =
        static_cast<float>(reference::sumInGroups(core, terms).value);
    bool isSame = std::isnan(expected) ? std::isnan(sums[column])
                                       : expected == sums[column];
    ASSERT_TRUE(isSame) << core.terms << " terms, seed " << seed << ": "
                        << sums[column] << " and not " << expected;
  }
}

} // namespace

TEST(TensorCore, runtimeAndInterpreterAddAlike) {
  for (const GroupedSums &core : {ofA100, ofH100})
    for (const Draw &draw : draws)
      for (unsigned seed = 0; seed < 200; ++seed)
        compare(core, draw, seed);
}

/// 2^24 + 1 + .. of an A100: each product is cut off beside the sum.
TEST(TensorCore, cutsOff) {
  const GroupedSums &core = ofA100;
  std::vector<float> left(8, 1), right(8, 1);
  float sum = 0x1p26F;
  fovea_tensor_core(core.terms, core.digits, core.placeOfZero, left.data(),
                    right.data(), 1, &sum, 1, 8, 1);
  EXPECT_EQ(sum, 0x1p26F);
  sum = 0x1p24F;
  fovea_tensor_core(core.terms, core.digits, core.placeOfZero, left.data(),
                    right.data(), 1, &sum, 1, 8, 1);
  EXPECT_EQ(sum, 0x1p24F + 8);
}
