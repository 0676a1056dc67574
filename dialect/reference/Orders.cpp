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

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// A number of f32 on its way through a reduction.
struct Number {
  float value = 0;
  Tree tree = 0;

  Number(float value, Tree tree = 0) : value(value), tree(tree) {}
  operator Traced() const { return {value, tree}; }
};

/// The operations of reductions.
struct Operations {
  Arithmetic in;

  Number of(uint32_t function, float value, Number a) const {
    return {value, in.of(function, value, a).tree};
  }
  Number of(uint32_t function, float value, Number a, Number b) const {
    return {value, in.of(function, value, a, b, {}, 2).tree};
  }
  Number of(uint32_t function, float value, Number a, Number b,
            Number c) const {
    return {value, in.of(function, value, a, b, c, 3).tree};
  }
  Number add(Number a, Number b) const {
    return of(Trees::Add, a.value + b.value, a, b);
  }
  Number subtract(Number a, Number b) const {
    return of(Trees::Subtract, a.value - b.value, a, b);
  }
  Number multiply(Number a, Number b) const {
    return of(Trees::Multiply, a.value * b.value, a, b);
  }
  Number divide(Number a, Number b) const {
    return of(Trees::Divide, a.value / b.value, a, b);
  }
  Number fma(Number a, Number b, Number c) const {
    return of(Trees::Fma, std::fma(a.value, b.value, c.value), a, b, c);
  }
  Number maximum(Number a, Number b) const {
    return of(Trees::Maximum, maximumOf(a.value, b.value), a, b);
  }
  Number minimum(Number a, Number b) const {
    return of(Trees::Minimum, minimumOf(a.value, b.value), a, b);
  }
  Number exp(Number a) const { return of(Trees::Exp, expOf(a.value), a); }
  Number log(Number a) const { return of(Trees::Log, logOf(a.value), a); }
};
} // namespace

static Number valueOf(const Term &term) { return {term.value, term.tree}; }

//===----------------------------------------------------------------------===//
// Factors in bf16
//===----------------------------------------------------------------------===//

/// The least number that is not taken for zero.
static constexpr float leastNormal = std::numeric_limits<float>::min();

/// A factor: zero below 2^-126, else the nearest number of bf16.
static float roundedFactor(float factor) {
  return std::fabs(factor) < leastNormal
             ? 0
             : static_cast<float>(roundedToBF16(factor));
}

/// fma(a, b, sum), or zero: if it is below 2^-126 after rounding to 24 digits,
/// which f32 itself does not have there. f64 has the border cases exactly.
static float addRounded(float a, float b, float sum) {
  constexpr double below = leastNormal, half = 0x1p-151;
  float result = std::fma(a, b, sum);
  if (!(std::fabs(result) <= leastNormal))
    return result;
  double exact = std::fma(static_cast<double>(a), b, sum);
  return std::fabs(exact) < below - half ? 0 : result;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Adds the terms in order to the partial result of their lane, which begins
/// with `start`. Then joins number i with i + 8, i + 4, i + 2 and i + 1.
static Number combine(Order order, ArrayRef<Term> terms, float start,
                      llvm::function_ref<Number(Number, const Term &)> take,
                      llvm::function_ref<Number(Number, Number)> join) {
  llvm::SmallVector<Number, 16> partial(order.inLanes ? 16 : 1, Number(start));
  for (const Term &term : terms) {
    Number &result = partial[order.inLanes ? term.lane : 0];
    result = take(result, term);
  }
  for (size_t width = order.inLanes ? 8 : 0; width != 0; width /= 2)
    for (size_t i = 0; i < width; ++i)
      partial[i] = join(partial[i], partial[i + width]);
  return partial[0];
}

static Number sumOf(Order order, ArrayRef<Term> terms, const Operations &in) {
  return combine(
      order, terms, 0,
      [&](Number sum, const Term &term) -> Number {
        if (order.rounded) {
          float a = roundedFactor(term.value), b = roundedFactor(term.factor);
          return in.of(Trees::AddTerm, addRounded(a, b, sum.value), sum,
                       valueOf(term), {term.factor, term.factorTree});
        }
        return order.fused
                   ? in.fma(valueOf(term), {term.factor, term.factorTree}, sum)
                   : in.add(sum, valueOf(term));
      },
      [&](Number a, Number b) { return in.add(a, b); });
}

static Number sumOfExponentials(Order order, ArrayRef<Term> terms,
                                Number largest, const Operations &in) {
  return combine(
      order, terms, 0,
      [&](Number sum, const Term &term) {
        return in.add(sum, in.exp(in.subtract(valueOf(term), largest)));
      },
      [&](Number a, Number b) { return in.add(a, b); });
}

static Number maximumIn(Order order, ArrayRef<Term> terms,
                        const Operations &in) {
  return combine(
      order, terms, -infinity,
      [&](Number best, const Term &term) {
        return in.maximum(best, valueOf(term));
      },
      [&](Number a, Number b) { return in.maximum(a, b); });
}

static double placeOfBest(bool isMaximum, ArrayRef<Term> terms) {
  const Term *best = nullptr;
  for (const Term &term : terms)
    if (!best ||
        (isMaximum ? term.value > best->value : term.value < best->value))
      best = &term;
  return best ? static_cast<double>(best->place) : 0;
}

Traced reference::reduceSingle(Reducer reducer, Order order,
                               ArrayRef<Term> terms, Arithmetic arithmetic) {
  Operations in{arithmetic};
  if (reducer == Reducer::prod)
    return combine(
        order, terms, 1,
        [&](Number product, const Term &term) {
          return in.multiply(product, valueOf(term));
        },
        [&](Number a, Number b) { return in.multiply(a, b); });
  if (terms.empty())
    return {};
  switch (reducer) {
  case Reducer::mean:
    return in.divide(sumOf(order, terms, in), static_cast<float>(terms.size()));
  case Reducer::max:
    return maximumIn(order, terms, in);
  case Reducer::min:
    return combine(
        order, terms, infinity,
        [&](Number best, const Term &term) {
          return in.minimum(best, valueOf(term));
        },
        [&](Number a, Number b) { return in.minimum(a, b); });
  case Reducer::argmax:
  case Reducer::argmin:
    return {placeOfBest(reducer == Reducer::argmax, terms), 0};
  case Reducer::logsumexp: {
    Number largest = maximumIn(order, terms, in);
    if (std::isinf(largest.value))
      return largest;
    return in.add(largest,
                  in.log(sumOfExponentials(order, terms, largest, in)));
  }
  default:
    return sumOf(order, terms, in);
  }
}

std::vector<Traced> reference::normaliseSingle(bool isLog, Order order,
                                               ArrayRef<Term> terms,
                                               Arithmetic arithmetic) {
  Operations in{arithmetic};
  // A NaN is not larger, and makes every exponential a NaN.
  Number largest = combine(
      order, terms, -infinity,
      [&](Number best, const Term &term) {
        return in.of(Trees::Maximum,
                     term.value > best.value ? term.value : best.value, best,
                     valueOf(term));
      },
      [&](Number a, Number b) { return in.maximum(a, b); });
  if (largest.value == -infinity)
    largest = 0;
  Number sum = sumOfExponentials(order, terms, largest, in);
  if (sum.value == 0)
    sum = 1;
  Number factor = isLog ? in.log(sum) : in.divide(1, sum);
  std::vector<Traced> row;
  for (const Term &term : terms) {
    Number away = in.subtract(valueOf(term), largest);
    row.push_back(isLog ? in.subtract(away, factor)
                        : in.multiply(in.exp(away), factor));
  }
  return row;
}
