//===- Orders.cpp - chains, and 16 partial results ------------------------===//

#include "dialect/reference/Orders.h"
#include "dialect/reference/Single.h"

#include <array>
#include <cmath>
#include <limits>

using namespace fovea;
using namespace fovea::attn;
using namespace fovea::reference;
using llvm::ArrayRef;

static constexpr float infinity = std::numeric_limits<float>::infinity();

/// Adds the terms in order to the partial result of their lane, which begins
/// with `start`. Then joins number i with i + 8, i + 4, i + 2 and i + 1.
static float combine(Order order, ArrayRef<Term> terms, float start,
                     llvm::function_ref<float(float, const Term &)> take,
                     llvm::function_ref<float(float, float)> join) {
  std::array<float, 16> partial;
  partial.fill(start);
  for (const Term &term : terms) {
    float &result = partial[order.inLanes ? term.lane : 0];
    result = take(result, term);
  }
  for (size_t width = order.inLanes ? 8 : 0; width != 0; width /= 2)
    for (size_t i = 0; i < width; ++i)
      partial[i] = join(partial[i], partial[i + width]);
  return partial[0];
}

static float add(float a, float b) { return a + b; }

static float sumOf(Order order, ArrayRef<Term> terms) {
  return combine(
      order, terms, 0,
      [&](float sum, const Term &term) {
        return order.fused ? std::fma(term.value, term.factor, sum)
                           : sum + term.value;
      },
      add);
}

static float sumOfExponentials(Order order, ArrayRef<Term> terms,
                               float largest) {
  return combine(
      order, terms, 0,
      [&](float sum, const Term &term) {
        return sum + expOf(term.value - largest);
      },
      add);
}

static float maximumIn(Order order, ArrayRef<Term> terms) {
  return combine(
      order, terms, -infinity,
      [](float best, const Term &term) { return maximumOf(best, term.value); },
      maximumOf);
}

static double placeOfBest(bool isMaximum, ArrayRef<Term> terms) {
  const Term *best = nullptr;
  for (const Term &term : terms)
    if (!best ||
        (isMaximum ? term.value > best->value : term.value < best->value))
      best = &term;
  return best ? static_cast<double>(best->place) : 0;
}

double reference::reduceSingle(Reducer reducer, Order order,
                               ArrayRef<Term> terms) {
  if (reducer == Reducer::prod)
    return combine(
        order, terms, 1,
        [](float product, const Term &term) { return product * term.value; },
        [](float a, float b) { return a * b; });
  if (terms.empty())
    return 0;
  switch (reducer) {
  case Reducer::mean:
    return sumOf(order, terms) / static_cast<float>(terms.size());
  case Reducer::max:
    return maximumIn(order, terms);
  case Reducer::min:
    return combine(
        order, terms, infinity,
        [](float best, const Term &term) {
          return minimumOf(best, term.value);
        },
        minimumOf);
  case Reducer::argmax:
  case Reducer::argmin:
    return placeOfBest(reducer == Reducer::argmax, terms);
  case Reducer::logsumexp: {
    float largest = maximumIn(order, terms);
    return std::isinf(largest)
               ? largest
               : largest + logOf(sumOfExponentials(order, terms, largest));
  }
  default:
    return sumOf(order, terms);
  }
}

std::vector<double> reference::normaliseSingle(bool isLog, Order order,
                                               ArrayRef<Term> terms) {
  // A NaN is not larger, and makes every exponential a NaN.
  float largest = combine(
      order, terms, -infinity,
      [](float best, const Term &term) {
        return term.value > best ? term.value : best;
      },
      maximumOf);
  if (largest == -infinity)
    largest = 0;
  float sum = sumOfExponentials(order, terms, largest);
  if (sum == 0)
    sum = 1;
  float factor = isLog ? logOf(sum) : 1 / sum;
  std::vector<double> row;
  for (const Term &term : terms) {
    float away = term.value - largest;
    row.push_back(isLog ? away - factor : expOf(away) * factor);
  }
  return row;
}
