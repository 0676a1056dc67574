//===- Size.h - an extent of an ONNX model --------------------*- C++ -*-===//
//
// A polynomial of lengths: `4`, `N`, `N*S + 2`. Two extents that are the same
// polynomial are equal; nothing else is known of a length.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_ONNX_SIZE_H
#define FOVEA_FRONTENDS_ONNX_SIZE_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fovea::onnx {

class Size {
public:
  Size(int64_t number = 0);
  static Size of(const std::string &length);

  std::optional<int64_t> value() const;
  bool is(int64_t number) const { return value() == number; }
  /// As the language writes it; in parentheses where it is more than a word.
  std::string text() const;

  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b);
  friend Size operator*(const Size &a, const Size &b);
  /// The quotient where nothing remains, whatever the lengths are.
  std::optional<Size> dividedBy(const Size &other) const;
  /// The quotient, rounded down.
  Size floorDividedBy(int64_t number) const;
  bool operator==(const Size &) const = default;

private:
  /// The number before each product of lengths, which are in order.
  std::map<std::vector<std::string>, int64_t> terms;
};

using Shape = std::vector<Size>;

/// The product of the extents `begin` .. `end` - 1.
Size productOf(const Shape &shape, size_t begin = 0, size_t end = SIZE_MAX);

/// `[N, 4]`
std::string shapeText(const Shape &shape);

} // namespace fovea::onnx

#endif // FOVEA_FRONTENDS_ONNX_SIZE_H
