//===- Elimination.cpp - inequalities, in a page --------------------------===//
//
// Decides whether inequalities over whole numbers contradict each other, by
// eliminating one variable after another (Fourier and Motzkin). Constants are
// rounded to whole numbers (Pugh: The Omega Test, 1991). In some systems
// without a whole solution it finds no contradiction, and the page reports an
// error too many. Tests compare it with MLIR's library, which decides all
// systems.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Inequalities.h"

#include <numeric>

using namespace fovea;

namespace {

/// `factors . x + constant >= 0`, for each vector of factors its smallest
/// constant.
class System {
public:
  /// Returns false if a contradiction is known, or numbers are too large.
  bool add(std::vector<int64_t> factors, int64_t constant);
  bool isContradictory() const { return contradiction; }

  /// Eliminates all variables.
  void solve(unsigned numVariables);

private:
  using Row = std::pair<const std::vector<int64_t>, int64_t>;

  /// Whether the elimination of a variable forgets that it is a whole number,
  /// and the number of rows afterwards.
  using Cost = std::pair<bool, size_t>;
  Cost costOf(unsigned variable) const;
  void eliminate(unsigned variable);
  bool combine(const Row &positive, const Row &negative, unsigned variable);

  static constexpr size_t maxRows = 20000;
  std::map<std::vector<int64_t>, int64_t> rows;
  bool contradiction = false;
  bool gaveUp = false;
};

} // namespace

static int64_t floorOf(int64_t number, int64_t divisor) {
  int64_t quotient = number / divisor;
  return quotient - (number % divisor < 0);
}

bool System::add(std::vector<int64_t> factors, int64_t constant) {
  int64_t divisor = 0;
  for (int64_t factor : factors)
    divisor = std::gcd(divisor, factor);
  if (divisor == 0) {
    contradiction |= constant < 0;
    return !contradiction;
  }
  for (int64_t &factor : factors)
    factor /= divisor;
  constant = floorOf(constant, divisor);
  std::vector<int64_t> opposite = factors;
  for (int64_t &factor : opposite)
    factor = -factor;
  auto other = rows.find(opposite);
  int64_t room;
  if (other != rows.end() &&
      !__builtin_add_overflow(other->second, constant, &room) && room < 0)
    contradiction = true;
  auto [known, isNew] = rows.try_emplace(std::move(factors), constant);
  if (!isNew)
    known->second = std::min(known->second, constant);
  return !contradiction;
}

System::Cost System::costOf(unsigned variable) const {
  size_t positive = 0, negative = 0;
  bool hasPositive = false, hasNegative = false; // other than 1 and -1
  for (const auto &[factors, constant] : rows) {
    positive += factors[variable] > 0;
    negative += factors[variable] < 0;
    hasPositive |= factors[variable] > 1;
    hasNegative |= factors[variable] < -1;
  }
  return {hasPositive && hasNegative,
          positive * negative - (positive + negative) + rows.size()};
}

bool System::combine(const Row &positive, const Row &negative,
                     unsigned variable) {
  int64_t p = positive.first[variable], n = -negative.first[variable];
  int64_t common = std::gcd(p, n), a = n / common, b = p / common;
  auto sum = [&](int64_t first, int64_t second, int64_t &result) {
    int64_t left, right;
    return !__builtin_mul_overflow(a, first, &left) &&
           !__builtin_mul_overflow(b, second, &right) &&
           !__builtin_add_overflow(left, right, &result);
  };
  std::vector<int64_t> factors(positive.first.size());
  int64_t constant;
  for (size_t i = 0; i < factors.size(); ++i)
    if (!sum(positive.first[i], negative.first[i], factors[i]))
      return true; // one fact less
  if (!sum(positive.second, negative.second, constant))
    return true;
  return add(std::move(factors), constant);
}

void System::eliminate(unsigned variable) {
  std::vector<Row> positive, negative;
  for (auto it = rows.begin(); it != rows.end();) {
    int64_t factor = it->first[variable];
    if (factor != 0)
      (factor > 0 ? positive : negative).push_back(*it);
    it = factor != 0 ? rows.erase(it) : std::next(it);
  }
  for (const Row &up : positive)
    for (const Row &down : negative) {
      gaveUp |= rows.size() > maxRows;
      if (gaveUp || !combine(up, down, variable))
        return;
    }
}

void System::solve(unsigned numVariables) {
  std::vector<unsigned> left(numVariables);
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty() && !contradiction && !gaveUp) {
    auto cheapest = left.begin();
    Cost least = costOf(*cheapest);
    for (auto it = left.begin(); it != left.end(); ++it)
      if (Cost cost = costOf(*it); cost < least) {
        least = cost;
        cheapest = it;
      }
    unsigned variable = *cheapest;
    left.erase(cheapest);
    eliminate(variable);
  }
}

bool Inequalities::isEmpty(const Rows &rows) const {
  System system;
  for (const std::vector<int64_t> &row : rows) {
    std::vector<int64_t> factors(row.begin(), row.end() - 1);
    if (!system.add(std::move(factors), row.back()))
      return true;
  }
  system.solve(numVariables);
  return system.isContradictory();
}
