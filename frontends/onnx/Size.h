//===- Size.h - an extent of an ONNX model --------------------*- C++ -*-===//
//
// A polynomial of lengths: `4`, `N`, `N*S + 2`. Two extents with the same
// polynomial are equal; a length is at least 1, and no more is known of it.
// Arithmetic never overflows: a result beyond 64 bits or a small polynomial is
// too large, has no value and equals nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_ONNX_SIZE_H
#define FOVEA_FRONTENDS_ONNX_SIZE_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::onnx {

class Size {
public:
  Size(int64_t number = 0);
  static Size of(const std::string &length);

  /// A file can contain numbers that overflow.
  bool isTooLarge() const { return overflows; }
  std::optional<int64_t> value() const;
  bool is(int64_t number) const { return value() == number; }
  /// Its spelling in the language, in parentheses if it is not a single word.
  std::string text() const;

  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b);
  friend Size operator*(const Size &a, const Size &b);
  /// The quotient if there is no remainder, for any lengths.
  std::optional<Size> dividedBy(const Size &other) const;
  /// The quotient, rounded down.
  Size floorDividedBy(int64_t number) const;
  /// The least value that it can have, as lengths are at least 1; nothing if
  /// that is not known.
  std::optional<int64_t> least() const;
  /// The lengths in it, except those inside a quotient.
  std::set<std::string> lengths() const;
  /// The same with one length in place of another.
  Size withLength(const std::string &old, const std::string &length) const;
  /// A length that is multiplied by another one, or nothing. The language does
  /// not support such extents.
  std::string multipliedLength() const;

  /// The axes that a reshape has merged into this one, in order, or nothing. An
  /// array is stored with these. Sizes with different parts can be equal, and
  /// arithmetic drops the parts.
  const std::vector<Size> &parts() const { return merged; }
  static Size ofParts(std::vector<Size> parts);
  Size withoutParts() const;

  bool operator==(const Size &other) const {
    return !overflows && !other.overflows && terms == other.terms;
  }

private:
  static Size tooLarge();
  /// The size with this text.
  static Size parsed(std::string_view text);
  static std::optional<int64_t> leastOf(const std::string &length);
  using Product = std::vector<std::string>;
  void add(const Product &product, int64_t factor);
  std::optional<Size> dividedByTerm(const Product &divisor,
                                    int64_t number) const;
  /// The term of the highest degree, the last of several.
  Size leading() const;

  /// The coefficient of each product of lengths, in order.
  std::map<std::vector<std::string>, int64_t> terms;
  bool overflows = false;
  std::vector<Size> merged;
};

using Shape = std::vector<Size>;

/// The axes with which an array of this shape is stored.
Shape storedAxes(const Shape &shape);

/// `to`, a reshape of `from`, with the parts of each axis that merges several.
Shape withParts(const Shape &from, const Shape &to);

/// The product of the extents `begin` .. `end` - 1.
Size productOf(const Shape &shape, size_t begin = 0, size_t end = SIZE_MAX);

/// `[N, 4]`
std::string shapeText(const Shape &shape);

} // namespace fovea::onnx

#endif // FOVEA_FRONTENDS_ONNX_SIZE_H
