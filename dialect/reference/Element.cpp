//===- Element.cpp - the reducers and their loops -------------------------===//
//
// A literal implementation of attn.compute: collects the terms over the
// reduction indices and combines them, in their order.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Element.h"
#include "dialect/reference/GroupedSums.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fovea;
using namespace fovea::attn;
using namespace fovea::reference;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// IndexRange
//===----------------------------------------------------------------------===//

IndexRange::IndexRange(const Code &code, const LengthTable &lengths,
                       unsigned begin, unsigned end)
    : code(&code), lengths(&lengths) {
  auto isInnermost = [&](unsigned number) {
    return static_cast<int>(number) == code.lanes;
  };
  for (bool innermost : {false, true})
    for (unsigned number = begin; number < end; ++number)
      if (isInnermost(number) == innermost)
        numbers.push_back(number);
}

/// Index `from` has its value; resets the later ones, or advances earlier ones
/// if a range is empty.
bool IndexRange::settle(std::vector<Slot> &registers, size_t from) const {
  size_t i = from;
  while (true) {
    unsigned number = numbers[i];
    int64_t bound = code->bounds[number].value(registers.data(), *lengths);
    if (registers[number].whole < bound) {
      if (++i == numbers.size())
        return true;
      registers[numbers[i]].whole = code->lower[numbers[i]];
    } else {
      if (i == 0)
        return false;
      ++registers[numbers[--i]].whole;
    }
  }
}

bool IndexRange::start(std::vector<Slot> &registers) const {
  if (numbers.empty())
    return true;
  registers[numbers[0]].whole = code->lower[numbers[0]];
  return settle(registers, 0);
}

bool IndexRange::advance(std::vector<Slot> &registers) const {
  if (numbers.empty())
    return false;
  ++registers[numbers.back()].whole;
  return settle(registers, numbers.size() - 1);
}

//===----------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------===//

static int64_t reduceWhole(Reducer reducer, ArrayRef<Slot> terms) {
  // Sums and products wrap around.
  uint64_t result = reducer == Reducer::prod || reducer == Reducer::all;
  if (reducer == Reducer::max || reducer == Reducer::min)
    result = terms.empty() ? 0 : terms[0].whole;
  for (Slot term : terms) {
    auto unsignedTerm = static_cast<uint64_t>(term.whole);
    auto so = static_cast<int64_t>(result);
    if (reducer == Reducer::sum || reducer == Reducer::cumsum)
      result += unsignedTerm;
    else if (reducer == Reducer::prod)
      result *= unsignedTerm;
    else if (reducer == Reducer::max)
      result = std::max(so, term.whole);
    else if (reducer == Reducer::min)
      result = std::min(so, term.whole);
    else if (reducer == Reducer::any)
      result = so != 0 || term.whole != 0;
    else if (reducer == Reducer::all)
      result = so != 0 && term.whole != 0;
  }
  return static_cast<int64_t>(result);
}

/// Returns whether `a` precedes `b` as a maximum (a minimum). A NaN comes
/// first, so that it is never lost.
static bool isBetter(bool maximum, bool whole, Slot a, Slot b) {
  if (whole)
    return maximum ? a.whole > b.whole : a.whole < b.whole;
  if (std::isnan(a.real) || std::isnan(b.real))
    return std::isnan(a.real) && !std::isnan(b.real);
  return maximum ? a.real > b.real : a.real < b.real;
}

static size_t findBest(bool maximum, bool whole, ArrayRef<Slot> terms) {
  size_t best = 0;
  for (size_t i = 1; i < terms.size(); ++i)
    if (isBetter(maximum, whole, terms[i], terms[best]))
      best = i;
  return best;
}

static double rounded(double value, Rounding *rounding) {
  return rounding ? (*rounding)(value) : value;
}

/// The sum of exp(term - largest).
static double sumOfExponentials(ArrayRef<Slot> terms, double largest,
                                Rounding *rounding) {
  double sum = 0;
  for (Slot term : terms)
    sum =
        rounded(sum + rounded(std::exp(rounded(term.real - largest, rounding)),
                              rounding),
                rounding);
  return sum;
}

/// log(sum(exp(term))); -inf where every term is.
static double logSumExp(ArrayRef<Slot> terms, Rounding *rounding) {
  double largest = terms[findBest(true, false, terms)].real;
  if (std::isinf(largest))
    return largest;
  double sum = sumOfExponentials(terms, largest, rounding);
  return rounded(largest + rounded(std::log(sum), rounding), rounding);
}

double reference::reduce(Reducer reducer, bool whole, ArrayRef<Slot> terms,
                         ArrayRef<int64_t> places, Rounding *rounding) {
  bool maximum = reducer == Reducer::max || reducer == Reducer::argmax;
  if (reducer == Reducer::argmax || reducer == Reducer::argmin)
    return terms.empty() ? 0.0 : places[findBest(maximum, whole, terms)];
  if (whole)
    return static_cast<double>(reduceWhole(reducer, terms));
  if (reducer == Reducer::prod) {
    double product = 1;
    for (Slot term : terms)
      product = rounded(product * term.real, rounding);
    return product;
  }
  if (terms.empty())
    return 0;
  if (reducer == Reducer::max || reducer == Reducer::min)
    return terms[findBest(maximum, whole, terms)].real;
  if (reducer == Reducer::logsumexp)
    return logSumExp(terms, rounding);
  double sum = 0;
  for (Slot term : terms)
    sum = rounded(sum + term.real, rounding);
  return reducer == Reducer::mean ? rounded(sum / terms.size(), rounding) : sum;
}

//===----------------------------------------------------------------------===//
// ElementTask
//===----------------------------------------------------------------------===//

static bool numbersTerms(Reducer reducer) {
  return reducer == Reducer::argmax || reducer == Reducer::argmin ||
         reducer == Reducer::softmax || reducer == Reducer::log_softmax;
}

void ElementTask::start(const Code &newCode, const std::vector<Slot> &initial,
                        ArrayRef<int64_t> parallel,
                        const LengthTable &lengths) {
  code = &newCode;
  terms.clear();
  places.clear();
  singles.clear();
  row.clear();
  value = {};
  termTree = 0;
  undefined = false;
  number = 0;
  lastPlace = code->reducer == Reducer::cumsum ? parallel.back() : -1;
  goOn(initial, parallel, lengths);
}

void ElementTask::goOn(const std::vector<Slot> &initial,
                       ArrayRef<int64_t> parallel, const LengthTable &lengths) {
  registers = initial;
  next = 0;
  empty = false;
  if (code->sums && code->groupsExamples)
    number = llvm::alignTo(number, code->sums->terms);
  for (size_t i = 0; i < parallel.size(); ++i) {
    if (parallel[i] < code->lower[i])
      empty = true;
    if (i < code->numParallel)
      registers[i].whole = parallel[i];
  }
  range.emplace(*code, lengths, code->numParallel, code->bounds.size());
  if (!empty && !range->start(registers)) {
    empty = true;
    combine(/*rounding=*/nullptr, /*trees=*/nullptr);
  }
}

Outcome ElementTask::resume(RunContext &context) {
  if (!context.trees)
    return goThrough(context);
  if (context.trees->isFull()) {
    context.error = Status::error("more than 30 million operations are too "
                                  "many; help: give smaller sizes, such as "
                                  "'--set H=16'");
    return Outcome::Failed;
  }
  context.trees->enter(code->op, elementNumber(*context.lengths));
  // Other elements of the equation may be computed while this one waits.
  context.treesOf.swap(trees);
  Outcome outcome = goThrough(context);
  context.treesOf.swap(trees);
  return outcome;
}

Outcome ElementTask::goThrough(RunContext &context) {
  unsigned reduction = code->numParallel;
  while (!empty) {
    if (lastPlace >= 0 && registers[reduction].whole > lastPlace)
      break;
    Slot term;
    Outcome outcome = run(*code, registers, next, context, term);
    if (outcome == Outcome::Missing || outcome == Outcome::Failed)
      return outcome;
    if (outcome == Outcome::Done) {
      take(term, context);
    } else if (lastPlace >= 0 && registers[reduction].whole == lastPlace) {
      // A running sum is 0 where the condition excludes its own place.
      terms.clear();
      singles.clear();
      undefined = false;
      break;
    }
    ++number;
    if (!range->advance(registers))
      break;
  }
  if (!empty)
    combine(context.rounding, context.trees);
  empty = true;
  return Outcome::Done;
}

void ElementTask::take(Slot term, const RunContext &context) {
  int64_t place =
      numbersTerms(code->reducer) ? rowMajorPlace(*context.lengths) : 0;
  terms.push_back(term);
  termTree = context.resultTree;
  undefined |= context.isUndefined;
  if (numbersTerms(code->reducer))
    places.push_back(place);
  if (!code->single || code->wholeBody)
    return;
  int lanes = code->lanes;
  int64_t lane = lanes < 0 ? 0 : registers[lanes].whole - code->lower[lanes];
  singles.push_back(
      {static_cast<float>(term.real), static_cast<float>(context.factor.real),
       static_cast<unsigned>(lane % 16), code->sums ? number : place,
       context.resultTree, context.factorTree});
}

/// The reduction indices as one number: what argmax gives, and the place in
/// the row of a softmax.
int64_t ElementTask::rowMajorPlace(const LengthTable &lengths) const {
  int64_t place = 0;
  for (size_t i = code->numParallel; i < code->bounds.size(); ++i) {
    const Bound &bound = code->bounds[i];
    int64_t extent =
        bound.length < 0 ? bound.number : lengths.value(bound.length);
    place = place * extent + registers[i].whole;
  }
  return place;
}

/// The parallel indices as one number, of the element or of its row.
int64_t ElementTask::elementNumber(const LengthTable &lengths) const {
  int64_t place = 0;
  for (size_t i = 0; i < code->numParallel; ++i) {
    const Bound &bound = code->bounds[i];
    int64_t extent =
        bound.length < 0 ? bound.number : lengths.value(bound.length);
    place = place * extent + registers[i].whole;
  }
  return place;
}

void ElementTask::combineSingle(Trees *trees) {
  Order order{code->lanes >= 0, code->fused, code->rounded};
  Arithmetic in(trees);
  if (code->sums)
    value = sumInGroups(*code->sums, singles, in);
  else if (givesRow(*code))
    row = normaliseSingle(code->reducer == Reducer::log_softmax, order, singles,
                          in);
  else
    value = reduceSingle(code->reducer, order, singles, in);
}

void ElementTask::combine(Rounding *rounding, Trees *trees) {
  bool whole = code->wholeBody;
  if (code->single && !whole && code->reducer != Reducer::none)
    return combineSingle(trees);
  if (!givesRow(*code)) {
    if (code->reducer == Reducer::none && !terms.empty())
      value = whole ? Traced{static_cast<double>(terms[0].whole), 0}
                    : Traced{terms[0].real, termTree};
    else if (code->reducer != Reducer::none)
      value = {reduce(code->reducer, whole, terms, places, rounding), 0};
    return;
  }
  if (terms.empty())
    return;
  bool isLog = code->reducer == Reducer::log_softmax;
  double largest = terms[findBest(true, false, terms)].real;
  if (largest == -std::numeric_limits<double>::infinity()) {
    row.assign(terms.size(), {isLog ? largest : 0, 0});
    return;
  }
  double sum = sumOfExponentials(terms, largest, rounding);
  for (Slot term : terms) {
    double away = rounded(term.real - largest, rounding);
    row.push_back({rounded(isLog ? away - rounded(std::log(sum), rounding)
                                 : rounded(std::exp(away), rounding) / sum,
                           rounding),
                   0});
  }
}
