//===- Inequalities.h - what follows from inequalities --------------------===//
//
// Facts about whole numbers: sums of variables that are at least 0, and choices
// where one alternative holds (a branch, a minimum, `a != b`). MLIR's
// Presburger library decides the consequences, alternative by alternative. The
// front end proves reads with it, and scheduling computes their distances.
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

/// A linear combination of variables, plus a constant.
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
  /// The caller's name of the case in which they hold; -1: none.
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
  /// Adds: at least one of the alternatives holds. Choices beyond the limit are
  /// ignored.
  void knowOneOf(std::vector<Facts> alternatives) {
    if (choices.size() < maxChoices)
      choices.push_back(std::move(alternatives));
  }

  /// Returns whether `sum` is at least 0 under all facts. If not, `failing`
  /// gets the names of the failing cases.
  bool proves(const WholeSum &sum, std::vector<int> *failing = nullptr) const;
  /// The largest value of `sum`; nothing if it is unbounded or unknown. If the
  /// facts are contradictory, the smallest number.
  std::optional<int64_t> largest(const WholeSum &sum) const;

private:
  static constexpr size_t maxChoices = 24;
  using Rows = std::vector<std::vector<int64_t>>;
  /// Calls `visit` with the facts of each possible combination of alternatives;
  /// returns false if `visit` does, or there are too many.
  bool eachCase(
      const Facts &first,
      llvm::function_ref<bool(const Rows &, llvm::ArrayRef<int>)> visit) const;
  std::vector<int64_t> rowOf(const WholeSum &sum) const;
  /// Returns whether no whole numbers satisfy the rows; false if that cannot be
  /// decided.
  bool isEmpty(const Rows &rows) const;

  unsigned numVariables = 0;
  Facts known;
  std::vector<std::vector<Facts>> choices;
};

} // namespace fovea

#endif // FOVEA_DIALECT_CONDITIONS_INEQUALITIES_H
