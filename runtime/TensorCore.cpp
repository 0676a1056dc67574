//===- TensorCore.cpp - the sums of a GPU's tensor cores, on a CPU --------===//
//
// All numbers are doubles, which have products of bf16 numbers, and the sums of
// what is kept of them, exactly. A number is cut off by a conversion to a whole
// one, which the compiler does for several columns at a time.
//
//===----------------------------------------------------------------------===//

#include "runtime/TensorCore.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace {

/// Columns that are added at a time.
constexpr int64_t columnsAtOnce = 16;
constexpr uint32_t signBit = 0x80000000, quietNaN = 0x7FC00000;
/// What a GPU gives.
constexpr uint32_t resultNaN = 0x7FFFFFFF;
constexpr int exponentShift = 23, exponentMask = 0xFF, bias = 127;
/// Below the place of every product.
constexpr int placeOfNothing = -4096;

struct TensorCore {
  int64_t terms;
  int digits, placeOfZero;
};

/// The next terms of some columns.
struct Group {
  const float *left, *right;
  int64_t width, count, columns;
};

float roundedFactor(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  bool isNaN = (bits & ~signBit) > (exponentMask << exponentShift);
  uint32_t nearest = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
  return std::bit_cast<float>(isNaN ? quietNaN : nearest);
}

bool isFinite(float value) {
  return (std::bit_cast<uint32_t>(value) >> exponentShift & exponentMask) !=
         exponentMask;
}

/// The exponent of the leading digit, not below the least of a normal number.
int placeOf(float value, int ofZero) {
  auto bits = std::bit_cast<uint32_t>(value) & ~signBit;
  int exponent = std::max(static_cast<int>(bits >> exponentShift), 1) - bias;
  return bits == 0 ? ofZero : exponent;
}

/// 2^exponent, a normal double.
double powerOf(int exponent) {
  constexpr int shift = 52, biasOfDouble = 1023;
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + biasOfDouble)
                               << shift);
}

/// To f32, towards zero; infinite from 2^128 on. There is no negative zero.
float cutOff(double value) {
  auto result = static_cast<float>(value);
  constexpr double beyond = 0x1p128;
  double magnitude = std::fabs(value);
  bool isLarger =
      std::fabs(static_cast<double>(result)) > magnitude && magnitude < beyond;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(result) -
                              (isLarger ? 1 : 0)) +
         0.0F;
}

void addGroup(const TensorCore &core, const Group &group, float *sums);

/// Column by column, where some number is not finite. In a column that has any,
/// those alone decide.
void addSpecial(const TensorCore &core, const Group &group, float *sums) {
  for (int64_t j = 0; j < group.columns; ++j) {
    Group own = {group.left, group.right + j, group.width, group.count, 1};
    float sum = isFinite(sums[j]) ? 0 : sums[j];
    bool isOwn = !isFinite(sums[j]);
    for (int64_t i = 0; i < group.count; ++i) {
      float left = roundedFactor(group.left[i]);
      float right = roundedFactor(own.right[i * group.width]);
      if (isFinite(left) && isFinite(right))
        continue;
      isOwn = true;
      sum += left * right;
    }
    if (!isOwn)
      addGroup(core, own, sums + j);
    else
      sums[j] = std::isnan(sum) ? std::bit_cast<float>(resultNaN) : sum;
  }
}

/// Loops over columns have a constant number of turns: they become vectors.
/// Columns that do not exist are zeros.
void addGroup(const TensorCore &core, const Group &group, float *sums) {
  constexpr int64_t mostTerms = 16, n = columnsAtOnce;
  float left[mostTerms], right[mostTerms][n] = {}, before[n] = {}, after[n];
  int largest[n];
  bool isSpecial = false;
  std::copy_n(sums, group.columns, before);
  for (int64_t j = 0; j < n; ++j) {
    largest[j] =
        std::max(placeOf(before[j], core.placeOfZero), core.placeOfZero);
    isSpecial |= !isFinite(before[j]);
  }
  for (int64_t i = 0; i < group.count; ++i) {
    left[i] = roundedFactor(group.left[i]);
    isSpecial |= !isFinite(left[i]);
    int place = placeOf(left[i], placeOfNothing);
    std::copy_n(group.right + i * group.width, group.columns, right[i]);
    for (int64_t j = 0; j < n; ++j) {
      float factor = roundedFactor(right[i][j]);
      isSpecial |= !isFinite(factor);
      right[i][j] = factor;
      largest[j] =
          std::max(largest[j], place + placeOf(factor, placeOfNothing));
    }
  }
  if (isSpecial)
    return addSpecial(core, group, sums);
  double scale[n], total[n];
  auto kept = [](double number) {
    // At most 2 + 25 digits are in front of the point.
    return static_cast<double>(static_cast<int32_t>(number));
  };
  for (int64_t j = 0; j < n; ++j) {
    scale[j] = powerOf(core.digits - largest[j]);
    total[j] = kept(before[j] * scale[j]);
  }
  for (int64_t i = 0; i < group.count; ++i) {
    double factor = left[i];
    for (int64_t j = 0; j < n; ++j)
      total[j] += kept(factor * right[i][j] * scale[j]);
  }
  for (int64_t j = 0; j < n; ++j)
    after[j] = cutOff(total[j] * powerOf(largest[j] - core.digits));
  std::copy_n(after, group.columns, sums);
}

} // namespace

extern "C" void fovea_tensor_core(int64_t terms, int64_t digits,
                                  int64_t placeOfZero, const float *left,
                                  const float *right, int64_t width,
                                  float *sums, int64_t columns, int64_t count,
                                  int64_t goesOn) {
  TensorCore core{terms, static_cast<int>(digits),
                  static_cast<int>(placeOfZero)};
  for (int64_t j = 0; j < columns; j += columnsAtOnce) {
    int64_t numColumns = std::min(columnsAtOnce, columns - j);
    if (!goesOn)
      std::fill_n(sums + j, numColumns, 0.0F);
    for (int64_t i = 0; i < count; i += terms)
      addGroup(core,
               {left + i, right + i * width + j, width,
                std::min(terms, count - i), numColumns},
               sums + j);
  }
}
