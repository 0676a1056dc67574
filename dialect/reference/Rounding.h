//===- Rounding.h - the errors of a precision, drawn ----------*- C++ -*-===//
//
// Code in single precision rounds the result of each operation. Drawing such
// errors in float64 shows their effect on an array: it moves by as much as its
// condition allows, and not at all if it is exact.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_ROUNDING_H
#define FOVEA_DIALECT_REFERENCE_ROUNDING_H

#include <cmath>
#include <cstdint>

namespace fovea::reference {

/// Draws a deterministic sequence of errors from the seed.
class Rounding {
public:
  explicit Rounding(uint64_t seed) : state(seed) {}

  /// The value times 1 + d, |d| at most 2^-24.
  double operator()(double value) {
    if (!std::isfinite(value))
      return value;
    // Steele, Lea and Flood (2014), splitmix64.
    uint64_t bits = state += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return value + value * (std::ldexp(double(bits >> 11), -52) - 1) * 0x1p-24;
  }

private:
  uint64_t state;
};

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_ROUNDING_H
