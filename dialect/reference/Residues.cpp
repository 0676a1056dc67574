//===- Residues.cpp - arithmetic modulo 2^61 - 1 --------------------------===//

#include "dialect/reference/Residues.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>

using namespace fovea;
using namespace fovea::reference;
using llvm::ArrayRef;
using llvm::StringRef;

static constexpr uint64_t prime = (uint64_t(1) << 61) - 1;

//===----------------------------------------------------------------------===//
// The field
//===----------------------------------------------------------------------===//

static uint64_t add(uint64_t a, uint64_t b) {
  uint64_t sum = a + b;
  return sum >= prime ? sum - prime : sum;
}

static uint64_t negate(uint64_t a) { return a == 0 ? 0 : prime - a; }

static uint64_t multiply(uint64_t a, uint64_t b) {
  auto product = static_cast<unsigned __int128>(a) * b;
  return add(static_cast<uint64_t>(product & prime),
             static_cast<uint64_t>(product >> 61));
}

static uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = multiply(base, base))
    if (exponent & 1)
      result = multiply(result, base);
  return result;
}

/// By Fermat; the inverse of 0 is 0.
static uint64_t invert(uint64_t a) { return power(a, prime - 2); }

uint64_t reference::residueOf(double value) {
  if (!std::isfinite(value))
    return llvm::bit_cast<uint64_t>(value) % prime;
  int exponent;
  double fraction = std::frexp(std::abs(value), &exponent);
  auto digits = static_cast<uint64_t>(std::ldexp(fraction, 53));
  // 2^61 is 1.
  int shift = ((exponent - 53) % 61 + 61) % 61;
  uint64_t residue = multiply(digits, uint64_t(1) << shift);
  return value < 0 ? negate(residue) : residue;
}

uint64_t reference::drawnResidue(StringRef name, uint64_t number) {
  uint64_t hash = llvm::xxh3_64bits(name) + number * 0x9e3779b97f4a7c15;
  return llvm::xxh3_64bits(
             ArrayRef(reinterpret_cast<const uint8_t *>(&hash), sizeof(hash))) %
         prime;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
enum class Symmetry { none, even, odd, inverse, complement };
} // namespace

/// f(x) of a function that nothing is known about but what f(-x) is.
static uint64_t unknown(StringRef name, Symmetry symmetry, uint64_t x) {
  uint64_t mirrored = negate(x);
  bool isMirrored = symmetry != Symmetry::none && mirrored < x;
  uint64_t result = drawnResidue(name, isMirrored ? mirrored : x);
  if (x == 0 && symmetry == Symmetry::odd)
    return 0;
  if (x == 0 && symmetry == Symmetry::inverse)
    return 1;
  if (!isMirrored || symmetry == Symmetry::even)
    return result;
  if (symmetry == Symmetry::odd)
    return negate(result);
  if (symmetry == Symmetry::inverse)
    return invert(result);
  return add(1, negate(result));
}

static uint64_t exponential(uint64_t x) {
  return unknown("math.exp", Symmetry::inverse, x);
}
static uint64_t root(uint64_t x) {
  return x < 2 ? x : unknown("math.sqrt", Symmetry::none, x);
}

/// A power with a whole exponent, or with half of one.
static uint64_t powerOf(uint64_t base, Residue exponent) {
  double twice = 2 * exponent.value;
  if (exponent.residue != residueOf(exponent.value) ||
      twice != std::rint(twice) || std::abs(twice) > 64)
    return drawnResidue("math.powf", multiply(base, 3) ^ exponent.residue);
  auto number = static_cast<uint64_t>(std::abs(twice));
  uint64_t result = power(base, number / 2);
  if (number % 2)
    result = multiply(result, root(base));
  return twice < 0 ? invert(result) : result;
}

uint64_t reference::residueOf(StringRef name, ArrayRef<Residue> operands) {
  auto at = [&](size_t i) {
    return i < operands.size() ? operands[i].residue : 0;
  };
  // Numbers that only rounding makes equal have one result in either order.
  auto larger = [&](bool isMaximum) {
    if (operands[0].value == operands[1].value)
      return std::min(at(0), at(1));
    bool isFirst = (operands[0].value > operands[1].value) == isMaximum;
    return isFirst ? at(0) : at(1);
  };
  uint64_t a = at(0), b = at(1), c = at(2);
  if (name == "arith.addf")
    return add(a, b);
  if (name == "arith.subf")
    return add(a, negate(b));
  if (name == "arith.mulf")
    return multiply(a, b);
  if (name == "arith.divf")
    return multiply(a, invert(b));
  if (name == "arith.negf")
    return negate(a);
  if (name == "math.fma")
    return add(multiply(a, b), c);
  if (name == "group" || name == "group.end")
    return a;
  if (name == "group.add")
    return add(a, multiply(b, c));
  if (name == "arith.maximumf" || name == "arith.maxnumf")
    return larger(true);
  if (name == "arith.minimumf" || name == "arith.minnumf")
    return larger(false);
  if (name == "math.absf")
    return operands[0].value < 0 ? negate(a) : a;
  if (name == "math.exp")
    return exponential(a);
  if (name == "math.expm1")
    return add(exponential(a), prime - 1);
  if (name == "math.log1p")
    return unknown("math.log", Symmetry::none, add(a, 1));
  if (name == "math.sqrt")
    return root(a);
  if (name == "math.rsqrt")
    return invert(root(a));
  if (name == "math.powf" || name == "math.fpowi")
    return powerOf(a, operands[1]);
  if (operands.size() == 1) {
    auto symmetry =
        llvm::StringSwitch<Symmetry>(name)
            .Cases({"math.tanh", "math.erf", "math.sin"}, Symmetry::odd)
            .Case("math.cos", Symmetry::even)
            .Case("attn.sigmoid", Symmetry::complement)
            .Default(Symmetry::none);
    return unknown(name, symmetry, a);
  }
  return drawnResidue(name, add(multiply(a, 3), add(multiply(b, 5), c)));
}
