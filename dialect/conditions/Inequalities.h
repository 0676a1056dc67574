//===- Inequalities.h - what follows from inequalities --------------------===//
//
// Facts about whole numbers: sums of variables that are at least 0, and choices
// of which one alternative holds (what a branch gives, a minimum, `a != b`).
// What follows from them is decided by MLIR's Presburger library, alternative
// by alternative. The front end proves reads with it, and scheduling how far
// away they are.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_CONDITIONS_INEQUALITIES_H
#define FOVEA_DIALECT_CONDITIONS_INEQUALITIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace fovea {

/// A sum of variables with factors, and a constant.
struct WholeSum {
  std::map<unsigned, int64_t> factors;
  int64_t constant = 0;

  static WholeSum of(unsigned variable) { return {{{variable, 1}}, 0}; }
  static WholeSum number(int64_t value) { return {{}, value}; }
  std::optional<int64_t> value() const {
    return factors.empty() ? std::optional(constant) : std::nullopt;
  }
};
WholeSum operator+(WholeSum a, const WholeSum &b);
WholeSum operator-(const WholeSum &a, const WholeSum &b);
WholeSum operator*(WholeSum a, int64_t factor);

/// Sums that are all at least 0.
struct Facts {
  std::vector<WholeSum> sums;
  /// What the caller calls the case in which they hold; -1: nothing.
  int name = -1;

  void atLeast(const WholeSum &a, const WholeSum &b) { sums.push_back(a - b); }
  void below(const WholeSum &a, const WholeSum &b) {
    sums.push_back(b - a - WholeSum::number(1));
  }
  void equal(const WholeSum &a, const WholeSum &b) {
    atLeast(a, b);
    atLeast(b, a);
  }
  void append(const Facts &other) {
    sums.insert(sums.end(), other.sums.begin(), other.sums.end());
  }
};

/// A system that grows.
class Inequalities {
public:
  WholeSum fresh() { return WholeSum::of(numVariables++); }
  void know(const Facts &facts) { known.append(facts); }
  /// At least one of the alternatives holds. Nothing is learnt from more
  /// choices than can be looked at.
  void knowOneOf(std::vector<Facts> alternatives) {
    if (choices.size() < maxChoices)
      choices.push_back(std::move(alternatives));
  }

  /// Whether `sum` is at least 0 wherever all that is known holds. Where it is
  /// not, `failing` gets the names of the cases in which that is so.
  bool proves(const WholeSum &sum, std::vector<int> *failing = nullptr) const;
  /// The largest value of `sum`; nothing when it has none that is known.
  /// Where no values are possible at all, the smallest number.
  std::optional<int64_t> largest(const WholeSum &sum) const;

private:
  static constexpr size_t maxChoices = 24;
  using Rows = std::vector<std::vector<int64_t>>;
  /// Calls `visit` with the facts of each combination of alternatives that is
  /// possible; false when `visit` says so, or there are too many.
  bool eachCase(
      const Facts &first,
      llvm::function_ref<bool(const Rows &, llvm::ArrayRef<int>)> visit) const;
  std::vector<int64_t> rowOf(const WholeSum &sum) const;

  unsigned numVariables = 0;
  Facts known;
  std::vector<std::vector<Facts>> choices;
};

} // namespace fovea

#endif // FOVEA_DIALECT_CONDITIONS_INEQUALITIES_H
