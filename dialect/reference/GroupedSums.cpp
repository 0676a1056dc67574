//===- GroupedSums.cpp - sums of products in groups -----------------------===//

#include "dialect/reference/GroupedSums.h"

#include <cmath>
#include <limits>

using namespace fovea;
using namespace fovea::attn;
using namespace fovea::reference;
using llvm::ArrayRef;

static constexpr int lowestPlace = -126, placesOfSingle = 128;

/// The exponent of the leading digit of a number that is not 0.
static int placeOf(double number) {
  return std::max(std::ilogb(number), lowestPlace);
}

/// To f32, towards zero.
static float towardsZero(double number) {
  auto nearest = static_cast<float>(number);
  bool isTooLarge = std::fabs(nearest) > std::fabs(number);
  bool isInfinite = std::fabs(number) >= std::ldexp(1.0, placesOfSingle);
  return isTooLarge && !isInfinite ? std::nextafterf(nearest, 0) : nearest;
}

/// Adds the terms of one group.
static float addGroup(const GroupedSums &sums, float sum,
                      ArrayRef<Term> group) {
  double all = std::isfinite(sum) ? 0 : sum;
  int largest = sum == 0 ? static_cast<int>(sums.placeOfZero) : placeOf(sum);
  for (const Term &term : group) {
    double product = static_cast<double>(term.value) * term.factor;
    if (!std::isfinite(product))
      all += product;
    else if (product != 0)
      largest = std::max(largest, placeOf(term.value) + placeOf(term.factor));
  }
  if (all != 0 || std::isnan(all))
    return static_cast<float>(all);
  double unit = std::ldexp(1.0, largest - static_cast<int>(sums.digits));
  all = std::trunc(sum / unit);
  for (const Term &term : group)
    all += std::trunc(static_cast<double>(term.value) * term.factor / unit);
  return towardsZero(all * unit);
}

/// The same for trees: `value` is what the group gives.
static Traced addGroupTree(Traced sum, ArrayRef<Term> group, float value,
                           Arithmetic in) {
  Traced all = in.of(Trees::BeginGroup, 0, sum);
  for (const Term &term : group)
    all = in.of(Trees::AddTerm, 0, all, {term.value, term.tree},
                {term.factor, term.factorTree}, 3);
  return in.of(Trees::EndGroup, value, all);
}

Traced reference::sumInGroups(const GroupedSums &sums, ArrayRef<Term> terms,
                              Arithmetic in) {
  Traced sum;
  while (!terms.empty()) {
    int64_t group = terms.front().place / sums.terms;
    ArrayRef<Term> own = terms.take_while(
        [&](const Term &term) { return term.place / sums.terms == group; });
    float value = addGroup(sums, static_cast<float>(sum.value), own);
    sum = addGroupTree(sum, own, value, in);
    terms = terms.drop_front(own.size());
  }
  return sum;
}
