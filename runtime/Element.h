//===- Element.h - array elements as numbers ------------------------------===//
//
// The only place that knows the types of C++ that store array elements. A new
// element type needs a case here, and its size in Program.h.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_ELEMENT_H
#define FOVEA_RUNTIME_ELEMENT_H

#include "runtime/Program.h"
#include "runtime/data/Half.h"

#include <cstddef>
#include <cstring>
#include <vector>

namespace fovea::runtime {

/// Returns whether elements are real numbers.
inline bool isReal(Program::Element element) {
  return element == Program::Element::F32 || element == Program::Element::F64 ||
         element == Program::Element::BF16;
}

/// A number of bf16, as arrays store it.
struct StoredBF16 {
  uint16_t bits = 0;
  StoredBF16() = default;
  explicit StoredBF16(double number)
      : bits(brainBits(static_cast<float>(number))) {}
  explicit operator double() const { return brainOf(bits); }
};

/// Calls `visit` with a zero of the type that stores an element.
template <typename Visit>
decltype(auto) visitType(Program::Element element, const Visit &visit) {
  switch (element) {
  case Program::Element::F32:
    return visit(float());
  case Program::Element::F64:
    return visit(double());
  case Program::Element::I64:
    return visit(int64_t());
  case Program::Element::Bit:
    return visit(uint8_t());
  case Program::Element::BF16:
    return visit(StoredBF16());
  }
  __builtin_unreachable();
}

/// Reads elements, at an address that need not be aligned.
inline std::vector<double>
loadNumbers(const std::byte *from, Program::Element element, int64_t count) {
  std::vector<double> numbers(count);
  visitType(element, [&](auto zero) {
    for (double &number : numbers) {
      decltype(zero) value;
      std::memcpy(&value, from, sizeof(value));
      number = static_cast<double>(value);
      from += sizeof(value);
    }
  });
  return numbers;
}

/// Writes numbers as elements, at an address that need not be aligned.
inline void storeNumbers(const std::vector<double> &numbers,
                         Program::Element element, std::byte *to) {
  visitType(element, [&](auto zero) {
    for (double number : numbers) {
      auto value = static_cast<decltype(zero)>(number);
      std::memcpy(to, &value, sizeof(value));
      to += sizeof(value);
    }
  });
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_ELEMENT_H
