//===- Inequalities.cpp - what follows from inequalities ------------------===//

#include "dialect/conditions/Inequalities.h"

using namespace fovea;

WholeSum fovea::operator+(WholeSum a, const WholeSum &b) {
  for (auto [variable, factor] : b.factors)
    if ((a.factors[variable] += factor) == 0)
      a.factors.erase(variable);
  a.constant += b.constant;
  return a;
}

WholeSum fovea::operator*(WholeSum a, int64_t factor) {
  if (factor == 0)
    return WholeSum::number(0);
  for (auto &[variable, mine] : a.factors)
    mine *= factor;
  a.constant *= factor;
  return a;
}

WholeSum fovea::operator-(const WholeSum &a, const WholeSum &b) {
  return a + b * -1;
}

/// The limit on combinations of alternatives.
static constexpr unsigned maxCases = 512;

std::vector<int64_t> Inequalities::rowOf(const WholeSum &sum) const {
  std::vector<int64_t> row(numVariables + 1, 0);
  for (auto [variable, factor] : sum.factors)
    row[variable] = factor;
  row.back() = sum.constant;
  return row;
}

bool Inequalities::eachCase(
    const Facts &first,
    llvm::function_ref<bool(const Rows &, llvm::ArrayRef<int>)> visit) const {
  Rows rows;
  std::vector<int> names;
  auto push = [&](const Facts &facts) {
    for (const WholeSum &sum : facts.sums)
      rows.push_back(rowOf(sum));
    if (facts.name >= 0)
      names.push_back(facts.name);
  };
  push(known);
  push(first);
  // Depth first, one alternative of each choice after the other.
  struct Level {
    size_t numRows, numNames;
    unsigned next = 0;
  };
  std::vector<Level> levels;
  for (unsigned cases = 0; cases < maxCases; ++cases) {
    if (!isEmpty(rows)) {
      if (levels.size() < choices.size())
        levels.push_back({rows.size(), names.size()});
      else if (!visit(rows, names))
        return false;
    }
    // The next alternative of the innermost choice that has one.
    while (!levels.empty() &&
           levels.back().next == choices[levels.size() - 1].size())
      levels.pop_back();
    if (levels.empty())
      return true;
    Level &level = levels.back();
    rows.resize(level.numRows);
    names.resize(level.numNames);
    push(choices[levels.size() - 1][level.next++]);
  }
  return false;
}

bool Inequalities::proves(const WholeSum &sum,
                          std::vector<int> *failing) const {
  Facts negated;
  negated.below(sum, WholeSum::number(0));
  return eachCase(negated, [&](const Rows &, llvm::ArrayRef<int> names) {
    if (failing)
      failing->assign(names.begin(), names.end());
    return false;
  });
}
