//===- Half.h - reals of 16 bits in files -----------------------*- C++ -*-===//
//
// The numbers that files of other programs hold, as wider ones: both kinds are
// exact in 32 bits.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_HALF_H
#define FOVEA_RUNTIME_DATA_HALF_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace fovea::runtime {

/// binary16 of IEEE 754: 1 bit of sign, 5 of the exponent, 10.
inline float halfOf(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  auto significand = static_cast<float>(bits & 1023);
  float number = exponent == 31 ? (significand != 0 ? NAN : INFINITY)
                 : exponent == 0
                     ? std::ldexp(significand, -24)
                     : std::ldexp(significand + 1024, exponent - 25);
  return (bits >> 15) != 0 ? -number : number;
}

/// bfloat16: the upper half of a number of 32 bits.
inline float brainOf(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_HALF_H
