//===- Compare.cpp - differences that do not swallow a NaN ----------------===//

#include "dialect/reference/Compare.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

using namespace fovea;
using namespace fovea::reference;

static constexpr double incomparable = std::numeric_limits<double>::infinity();

static double difference(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return incomparable;
  if (a == b)
    return 0;
  if (std::isinf(a) || std::isinf(b))
    return incomparable;
  return std::abs(a - b) / std::max({1.0, std::abs(a), std::abs(b)});
}

double reference::maxDifference(const Array &a, const Array &b) {
  if (a.shape != b.shape || a.values.size() != b.values.size())
    return incomparable;
  double largest = 0;
  for (size_t i = 0; i < a.values.size(); ++i)
    largest = std::max(largest, difference(a.values[i], b.values[i]));
  return largest;
}

bool reference::agree(const Array &a, const Array &b, double tolerance) {
  double largest = maxDifference(a, b);
  return std::isfinite(largest) && largest <= tolerance;
}

bool reference::agree(const Arrays &a, const Arrays &b, double tolerance) {
  return explainDifference(a, b, tolerance).empty();
}

std::string reference::explainDifference(const Arrays &a, const Arrays &b,
                                         double tolerance) {
  for (const Arrays *one : {&a, &b})
    for (const auto &[name, array] : *one)
      if (!(one == &a ? b : a).count(name))
        return fmt::format("'{}' is only in the {}", name,
                           one == &a ? "first" : "second");
  for (const auto &[name, first] : a) {
    const Array &second = b.at(name);
    if (agree(first, second, tolerance))
      continue;
    if (first.shape != second.shape)
      return fmt::format("'{}' is [{}] but [{}]", name,
                         fmt::join(first.shape, ", "),
                         fmt::join(second.shape, ", "));
    for (size_t i = 0; i < first.values.size(); ++i)
      if (!(difference(first.values[i], second.values[i]) <= tolerance))
        return fmt::format("'{}' is {} but {} at element {}", name,
                           first.values[i], second.values[i], i);
    return fmt::format("'{}' differs", name);
  }
  return "";
}
