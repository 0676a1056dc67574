//===- Places.h - what is known of whole numbers in a model ---------------===//
//
// Terms of whole numbers as sums of variables, with the facts of the language
// about them: ranges of indices, lengths that are at least 1, and both branches
// of an `if`. Other facts are the values of a minimum, a quotient or an argmax,
// and the equations that define an array that is read. Bounds.cpp asks whether
// they imply that a place is inside.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_PLACES_H
#define FOVEA_FRONTENDS_FOV_CHECK_PLACES_H

#include "dialect/conditions/Inequalities.h"
#include "frontends/fov/elaborate/Terms.h"

#include <set>

namespace fovea::fov {

class Places {
public:
  explicit Places(const Elaborated &model) : model(model) {}

  /// The value of a term; an unknown one is a variable of its own.
  WholeSum valueOf(const Term *term) { return valueOf(term, nullptr); }
  /// A size; a nested length is the length of `row`, and unknown without one.
  std::optional<WholeSum> valueOf(const Extent &extent,
                                  const WholeSum *row = nullptr);
  /// Assumes `condition`.
  void assume(const Term *condition, bool holds);
  void equal(const WholeSum &a, const WholeSum &b);

  /// Returns whether `sum` is provably at least 0. If not, `failing` has the
  /// branches without a proof: conditions, and whether they hold.
  using Branches = std::vector<std::pair<const Term *, bool>>;
  bool proves(const WholeSum &sum, Branches *failing = nullptr) const;

private:
  /// The values of an equation's indices when it is read elsewhere.
  using Indices = std::map<const IndexVar *, WholeSum>;
  /// A sum as comparable numbers.
  using Key = std::vector<int64_t>;
  static Key keyOf(const WholeSum &sum);

  WholeSum valueOf(const Term *term, const Indices *indices);
  WholeSum valueOfMap(const Term *term, const Indices *indices);
  WholeSum valueOfRead(const Term *term, const Indices *indices);
  WholeSum valueOfReduction(const Term *term, const Indices *indices);
  /// The values of an array's equations at some places, as `value`.
  std::vector<Facts> casesOfEquation(const Array &array, ArrayRef<WholeSum> at,
                                     const WholeSum &value,
                                     const Indices *indices);
  void symbolOf(const Vocabulary *vocabulary, const WholeSum &value);
  WholeSum quotient(const WholeSum &a, const WholeSum &b);
  WholeSum between(const WholeSum &first, const WholeSum &end, bool orZero);
  WholeSum indexOf(const IndexVar *var);
  /// The alternatives under which a condition holds, or fails.
  std::vector<Facts> casesOf(const Term *condition, bool holds,
                             const Indices *indices);

  const Elaborated &model;
  Inequalities system;
  Branches branches; // by the name of their facts
  std::map<const IndexVar *, WholeSum> ranges;
  std::map<std::pair<const Atom *, Key>, WholeSum> sizes;
  std::map<const Term *, WholeSum> terms;
  std::map<std::pair<const Array *, std::vector<Key>>, WholeSum> reads;
  std::set<const Array *> open; // whose equations are looked at
};

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_PLACES_H
