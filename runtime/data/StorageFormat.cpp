//===- StorageFormat.cpp - how programs store parameters ------------------===//

#include "runtime/data/StorageFormat.h"
#include "runtime/data/Half.h"

#include <algorithm>

using namespace fovea::runtime;

/// The bits of infinity: above those of all numbers.
static uint32_t infinityOf(const StorageFormat &format) {
  return ((1U << format.exponentBits) - 1) << format.fractionBits;
}

static uint32_t signOf(const StorageFormat &format) {
  return 1U << (format.exponentBits + format.fractionBits);
}

float fovea::runtime::numberOf(const StorageFormat &format, uint32_t bits) {
  uint32_t sign = (bits & signOf(format)) != 0 ? 1U << 31 : 0;
  uint32_t size = bits & (signOf(format) - 1);
  auto number = std::bit_cast<float>(sign | size << (23 - format.fractionBits));
  return format.hasInfinity() ? number : number * format.factor();
}

uint32_t fovea::runtime::bitsOf(const StorageFormat &format, float number) {
  if (format.hasInfinity() && format.fractionBits == 7)
    return brainBits(number);
  auto bits = std::bit_cast<uint32_t>(number);
  uint32_t sign = (bits >> 31) != 0 ? signOf(format) : 0;
  int exponent =
      std::max(static_cast<int>(bits >> 23 & 255) - 127, 1 - format.bias());
  // In f64 the quotient is exact. Between 2^52 and 2^53 are the whole numbers,
  // so the sum rounds to one: to the nearest, ties to even, and without libm.
  auto unit = std::bit_cast<double>(
      static_cast<uint64_t>(1023 + exponent - format.fractionBits) << 52);
  double units = std::bit_cast<float>(bits & ~(1U << 31)) / unit;
  constexpr double whole = 0x1p52;
  if (!(units < whole))
    return sign | infinityOf(format);
  auto size = static_cast<int64_t>(units + whole - whole) +
              (static_cast<int64_t>(exponent + format.bias() - 1)
               << format.fractionBits);
  return sign |
         static_cast<uint32_t>(std::min<int64_t>(size, infinityOf(format)));
}

bool fovea::runtime::isInfinite(const StorageFormat &format, uint32_t bits) {
  return (bits & (signOf(format) - 1)) == infinityOf(format);
}
