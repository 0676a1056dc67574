//===- Extent.h - symbolic sizes ------------------------------------------===//
//
// A size is a polynomial with rational coefficients over dims (whose values are
// known), lengths (which come with each example), sizes that a call binds, and
// floors of those. Two sizes are equal when they are the same polynomial, so
// `D/K * K` is D, and an E where an H is wanted is a mistake even while both
// are 512. A plain number equals a dim of that value. What does not fit (2^62,
// 64 terms, powers over 32) is too large, and stays so in all that it enters.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_ELABORATE_EXTENT_H
#define FOVEA_FRONTENDS_FOV_ELABORATE_EXTENT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fovea::fov {

struct Atom;

struct Rational {
  int64_t num = 0, den = 1;
};

/// A product of atoms with exponents, sorted by the atoms' ids.
using Monomial = std::vector<std::pair<const Atom *, int>>;

struct MonomialLess {
  bool operator()(const Monomial &a, const Monomial &b) const;
};

/// Atoms in the order of their creation: never by address.
struct AtomLess {
  bool operator()(const Atom *a, const Atom *b) const;
};

class Extent {
public:
  Extent() = default;
  template <typename Integer,
            std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  Extent(Integer number) {
    add({}, {int64_t(number), 1});
  }
  explicit Extent(const Atom *atom);

  Extent operator+(const Extent &other) const;
  Extent operator-(const Extent &other) const;
  Extent operator*(const Extent &other) const;

  /// The polynomials are the same, or both have values, one is a plain number,
  /// and the values are equal. Sizes bound by calls are resolved first.
  bool operator==(const Extent &other) const;
  bool operator!=(const Extent &other) const { return !(*this == other); }

  /// With every bound size replaced by its solution, and every floor by what it
  /// is of these; empty while one is open.
  std::optional<Extent> resolved() const;

  /// The value, when no length and no open size occurs and it is whole.
  std::optional<int64_t> value() const;
  /// Whether it depends on a length, so that it differs between examples.
  bool differs() const;
  /// Whether some step towards it did not fit. Such an extent equals every
  /// other, since the mistake is reported where it is made.
  bool isTooLarge() const { return tooLarge; }
  static Extent outOfRange();
  bool isNumber() const;
  /// The atom, when this is one length of the data.
  const Atom *length() const;
  /// Some length in it that is nested in another, or null.
  const Atom *nestedLength() const;
  /// The atom, when this is one size that no call has bound yet.
  const Atom *openAtom() const;
  /// Some size in it that no call has bound yet, or null.
  const Atom *unresolved() const;

  /// a*length + .. + constant after putting in the values of dims; empty when
  /// it is not of that form with whole coefficients. Lengths and floors of
  /// lengths are the atoms that remain.
  struct Linear {
    std::map<const Atom *, int64_t, AtomLess> coefficients;
    int64_t constant = 0;
  };
  std::optional<Linear> linear() const;
  /// Whether it can be an extent of an array: a number, one length, or a sum of
  /// multiples of lengths (no nested ones) and of floors of such sums.
  bool isSum() const;

  /// `E + 2*H`, as a message shows it.
  std::string text() const;
  /// `H = 512` when that says more than `text()` or the number alone.
  std::string textWithValue() const;

  const std::map<Monomial, Rational, MonomialLess> &terms() const {
    return polynomial;
  }

private:
  friend class Sizes;
  void add(const Monomial &monomial, Rational coefficient);
  bool isOneAtom() const;
  std::map<Monomial, Rational, MonomialLess> polynomial;
  bool tooLarge = false;
};

struct Atom {
  enum Kind { Dim, Length, Size, Floor } kind;
  std::string name;
  unsigned id;
  int64_t value = 0;                      // Dim
  std::string parent;                     // Length: the length it is nested in
  mutable std::optional<Extent> solution; // Size
  Extent numerator, denominator;          // Floor
  mutable std::optional<Extent> resolved; // Floor: when no size is open
  class Sizes *owner = nullptr;           // Floor
};

/// Owns the atoms of one model.
class Sizes {
public:
  const Atom *dim(llvm::StringRef name, int64_t value);
  const Atom *length(llvm::StringRef name, llvm::StringRef parent = "");
  const Atom *open(llvm::StringRef name);
  /// a // b. Exact where the values divide and b is a product; otherwise an
  /// atom, the same one for the same a and b.
  Extent floorDiv(const Extent &a, const Extent &b);
  /// Names every a // b by what a and b have turned out to be: two calls of a
  /// def have different A // 2.
  void nameFloors();
  /// The length of this name, or null.
  const Atom *findLength(llvm::StringRef name) const;
  /// The values of all dims.
  std::map<std::string, int64_t> dims() const;

private:
  Atom *create(Atom::Kind kind, llvm::StringRef name);
  std::deque<Atom> atoms;
  std::map<std::string, const Atom *> lengths;             // by name
  std::map<std::string, std::vector<const Atom *>> floors; // by name
};

using Shape = llvm::SmallVector<Extent, 2>;

/// Whether `place` lies outside an axis of `size`, a data extent being at least
/// 1. What nobody can say is inside.
bool isOutside(const Extent &place, const Extent &size);

/// `[H = 512]`, `[T, E]`, `number`.
std::string shapeText(const Shape &shape);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_ELABORATE_EXTENT_H
