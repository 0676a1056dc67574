//===- Extent.h - symbolic sizes ------------------------------------------===//
//
// A size is a polynomial with rational coefficients. Its variables are dims
// (whose values are known), lengths (which come with each example), sizes that
// a call binds, and floors of these. Two sizes are equal when they are the same
// polynomial. So `D/K * K` is D, and an E where an H is wanted is a mistake
// even while both are 512. A plain number equals a dim of that value. What does
// not fit (2^62, 64 terms, powers over 32) is too large, and so are all sizes
// that it enters.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_ELABORATE_EXTENT_H
#define FOVEA_FRONTENDS_FOV_ELABORATE_EXTENT_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
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
  int64_t num = 0, den = 1; // den > 0, without common factors
  bool operator==(const Rational &other) const = default;
};

/// A product of atoms with exponents, sorted by the atoms' ids.
using Monomial = llvm::SmallVector<std::pair<const Atom *, int>, 1>;

/// A sum of monomials with coefficients that are not 0, sorted by the ids.
using Polynomial = llvm::SmallVector<std::pair<Monomial, Rational>, 1>;

/// Atoms in the order of their creation: never by address.
struct AtomLess {
  bool operator()(const Atom *a, const Atom *b) const;
};

/// A value of one pointer: copies share their polynomial. Models have more
/// extents than anything else. Counts are not atomic: one thread reads a spec.
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

  /// Returns whether the polynomials are equal, or whether both have equal
  /// values and one is a plain number. Sizes bound by calls are resolved first.
  bool operator==(const Extent &other) const;
  bool operator!=(const Extent &other) const { return !(*this == other); }

  /// Replaces every bound size by its solution, and every floor accordingly;
  /// empty while one is open.
  std::optional<Extent> resolved() const;

  /// The value, if there is no length and no open size and it is whole.
  std::optional<int64_t> value() const;
  /// Returns whether it depends on a length, so that it differs between
  /// examples.
  bool differs() const;
  /// Returns whether a step towards it overflowed. Such an extent equals every
  /// other, because the error is reported where it occurs.
  bool isTooLarge() const { return shared && shared->isTooLarge; }
  static Extent outOfRange();
  bool isNumber() const;
  /// The atom, if this is a single data length.
  const Atom *length() const;
  /// A length in it that is nested in another, or null.
  const Atom *nestedLength() const;
  /// The atom, if this is a single size that no call has bound yet.
  const Atom *openAtom() const;
  /// A size in it that no call has bound yet, or null.
  const Atom *unresolved() const;
  /// A length in it that follows from values, or null.
  const Atom *lengthByValues() const;

  /// Returns a*length + .. + constant with the values of dims inserted; empty
  /// if the coefficients are not whole or the form does not match. Lengths and
  /// floors of lengths remain as atoms.
  struct Linear {
    std::map<const Atom *, int64_t, AtomLess> coefficients;
    int64_t constant = 0;
  };
  std::optional<Linear> linear() const;
  /// Returns whether it can be an extent of an array: a number, one length, or
  /// a sum of multiples of lengths (not nested) and of floors of such sums.
  bool isSum() const;

  /// `E + 2*H`, as a message shows it.
  std::string text() const;
  /// `H = 512` when that says more than `text()` or the number alone.
  std::string textWithValue() const;

  const Polynomial &terms() const;

private:
  friend class Sizes;
  void add(const Monomial &monomial, Rational coefficient);
  bool isOneAtom() const;
  bool isPlain() const;
  std::optional<int64_t> computeValue() const;

  struct Shared : llvm::RefCountedBase<Shared> {
    Polynomial terms;
    bool isTooLarge = false;
    // Found when first asked for.
    mutable std::optional<bool> isPlain;
    mutable std::optional<std::optional<int64_t>> value; // of a plain one
  };
  llvm::IntrusiveRefCntPtr<Shared> shared; // null: 0
};

struct Atom {
  enum Kind { Dim, Length, Size, Floor } kind;
  std::string name;
  unsigned id;
  int64_t value = 0;                      // Dim
  std::string parent;                     // Length: the length it is nested in
  std::optional<Extent> bound;            // Length: of one by values, the most
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
  /// A length that follows from values, at most `bound`.
  const Atom *lengthByValues(llvm::StringRef name, const Extent &bound);
  const Atom *open(llvm::StringRef name);
  /// The number of places that are stored for `size`: the most that it can be.
  Extent capacity(const Extent &size);
  /// a // b. Exact if the values divide and b is a product; otherwise an atom,
  /// the same one for the same a and b.
  Extent floorDiv(const Extent &a, const Extent &b);
  /// Names every a // b by the solutions of a and b: two calls of a def may
  /// have different A // 2.
  void nameFloors();
  /// Returns the length of this name, or null.
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

/// Returns whether `place` is outside an axis of `size`; a data extent is at
/// least 1. Unknown places count as inside.
bool isOutside(const Extent &place, const Extent &size);

/// `[H = 512]`, `[T, E]`, `number`.
std::string shapeText(const Shape &shape);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_ELABORATE_EXTENT_H
