//===- Half.h - reals of 16 bits in files -----------------------*- C++ -*-===//
//
// Widens 16-bit numbers in files: 32 bits represent both formats exactly.
// Rounds 32-bit numbers to bfloat16.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_HALF_H
#define FOVEA_RUNTIME_DATA_HALF_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace fovea::runtime {

/// IEEE 754 binary16: 1 sign bit, 5 exponent bits, 10 fraction bits.
inline float halfOf(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  auto significand = static_cast<float>(bits & 1023);
  float number = exponent == 31 ? (significand != 0 ? NAN : INFINITY)
                 : exponent == 0
                     ? std::ldexp(significand, -24)
                     : std::ldexp(significand + 1024, exponent - 25);
  return (bits >> 15) != 0 ? -number : number;
}

/// bfloat16: the upper half of a 32-bit float.
inline float brainOf(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// The nearest bfloat16, of two the even one. Beyond the largest is infinity;
/// a NaN remains one.
inline uint16_t brainBits(float number) {
  auto bits = std::bit_cast<uint32_t>(number);
  if (std::isnan(number))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_HALF_H
