//===- TensorCore.cpp - how tensor cores add ------------------------------===//

#include "tools/emulator/ptx/TensorCore.h"
#include "tools/emulator/Launch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string_view>

using namespace fovea::emulator;
using namespace fovea::emulator::ptx;

/// Of the fraction of a number in f32.
static constexpr int fractionDigits = 23;

TensorCore::TensorCore(int64_t capability) {
  const char *sums = std::getenv("FOVEA_EMULATOR_SUMS");
  if (sums && std::string_view(sums) == "ascending")
    return;
  constexpr int64_t hopper = 90;
  bool isNew = capability >= hopper;
  numAtOnce = isNew ? 16 : 8;
  numDigits = isNew ? 25 : 24;
  zeroExponent = isNew ? -133 : -132;
}

const TensorCore &fovea::emulator::ptx::tensorCore() {
  static const TensorCore own(capability());
  return own;
}

namespace {
/// significand * 2^exponent, where `top` is the exponent of the place that the
/// first digit of a normal number has.
struct Term {
  int64_t significand = 0;
  int exponent = 0, top = 0;
};
} // namespace

/// Of a finite number.
static Term termOf(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  constexpr uint32_t hiddenBit = uint32_t(1) << fractionDigits;
  constexpr int bias = 127;
  int biased = static_cast<int>(bits >> fractionDigits & 0xFF);
  auto magnitude = static_cast<int64_t>(bits & (hiddenBit - 1));
  if (biased == 0)
    biased = 1;
  else
    magnitude |= hiddenBit;
  int top = biased - bias;
  return {std::signbit(value) ? -magnitude : magnitude, top - fractionDigits,
          top};
}

static Term productOf(float left, float right) {
  Term a = termOf(left), b = termOf(right);
  // Factors in bf16 have no more digits: the product keeps fewer than 64.
  return {a.significand * b.significand, a.exponent + b.exponent,
          a.top + b.top};
}

/// Towards zero, in units of 2^exponent.
static int64_t cutOff(const Term &term, int exponent) {
  uint64_t magnitude = std::abs(term.significand);
  int distance = term.exponent - exponent;
  magnitude = distance >= 0    ? magnitude << distance
              : distance > -64 ? magnitude >> -distance
                               : 0;
  auto result = static_cast<int64_t>(magnitude);
  return term.significand < 0 ? -result : result;
}

/// Towards zero, to f32.
static float singleOf(int64_t sum, int exponent) {
  constexpr int lowest = -149;
  uint64_t magnitude = std::abs(sum);
  int width = static_cast<int>(std::bit_width(magnitude));
  int lost = std::max({width - (fractionDigits + 1), lowest - exponent, 0});
  if (lost >= 64)
    return 0;
  double kept =
      std::ldexp(static_cast<double>(magnitude >> lost), exponent + lost);
  auto result = static_cast<float>(kept);
  return sum < 0 && result != 0 ? -result : result;
}

/// Where some terms are not finite, the others do not matter.
static float specialSum(float sum, std::span<const float> left,
                        std::span<const float> right) {
  constexpr uint32_t noNumber = 0x7FFFFFFF;
  if (std::isfinite(sum))
    sum = 0;
  for (size_t i = 0; i < left.size(); ++i)
    if (!std::isfinite(left[i]) || !std::isfinite(right[i]))
      sum += left[i] * right[i];
  return std::isnan(sum) ? std::bit_cast<float>(noNumber) : sum;
}

float TensorCore::addAtOnce(float sum, std::span<const float> left,
                            std::span<const float> right) const {
  constexpr size_t mostTerms = 17;
  Term terms[mostTerms];
  size_t count = left.size();
  bool isFinite = std::isfinite(sum);
  for (size_t i = 0; i < count; ++i)
    isFinite &= std::isfinite(left[i]) && std::isfinite(right[i]);
  if (!isFinite)
    return specialSum(sum, left, right);
  terms[count] = termOf(sum);
  for (size_t i = 0; i < count; ++i)
    terms[i] = productOf(left[i], right[i]);
  int largest = terms[0].significand == 0 ? zeroExponent : terms[0].top;
  for (size_t i = 1; i <= count; ++i)
    largest = std::max(largest,
                       terms[i].significand == 0 ? zeroExponent : terms[i].top);
  int64_t result = 0;
  for (size_t i = 0; i <= count; ++i)
    result += cutOff(terms[i], largest - numDigits);
  return singleOf(result, largest - numDigits);
}

float TensorCore::add(float sum, std::span<const float> left,
                      std::span<const float> right) const {
  if (numAtOnce == 0) {
    for (size_t i = 0; i < left.size(); ++i)
      sum = std::fma(left[i], right[i], sum);
    return sum;
  }
  for (size_t i = 0; i < left.size(); i += numAtOnce)
    sum =
        addAtOnce(sum, left.subspan(i, numAtOnce), right.subspan(i, numAtOnce));
  return sum;
}
