//===- Bleu.cpp - n-grams that references share ---------------------------===//

#include "metrics/Bleu.h"
#include "runtime/Functions.h"

#include <cmath>
#include <cstdlib>
#include <unordered_map>

using namespace fovea;
using namespace fovea::metrics;

using Counts = std::unordered_map<std::u32string, int64_t>;

/// The n-grams of one order, joined by spaces: no token has a space.
static Counts ngramsOf(const Tokens &tokens, size_t order) {
  Counts counts;
  for (size_t i = 0; i + order <= tokens.size(); ++i) {
    std::u32string ngram = tokens[i];
    for (size_t k = 1; k < order; ++k)
      ngram += U' ' + tokens[i + k];
    ++counts[ngram];
  }
  return counts;
}

/// The length nearest to the hypothesis's length; of two, the shorter.
static int64_t nearestLength(int64_t wanted,
                             const std::vector<Tokens> &references) {
  int64_t best = -1;
  for (const Tokens &reference : references) {
    auto length = static_cast<int64_t>(reference.size());
    int64_t distance = std::abs(length - wanted), own = std::abs(best - wanted);
    if (best < 0 || distance < own || (distance == own && length < best))
      best = length;
  }
  return best;
}

Statistics Bleu::count(const Tokens &hypothesis,
                       const std::vector<Tokens> &references) {
  Statistics result;
  for (size_t order = 1; order <= 4; ++order) {
    Counts most;
    for (const Tokens &reference : references)
      for (const auto &[ngram, count] : ngramsOf(reference, order))
        most[ngram] = std::max(most[ngram], count);
    int64_t matches = 0, total = 0;
    for (const auto &[ngram, count] : ngramsOf(hypothesis, order)) {
      total += count;
      if (auto found = most.find(ngram); found != most.end())
        matches += std::min(count, found->second);
    }
    result.push_back(double(matches));
    result.push_back(double(total));
  }
  auto length = static_cast<int64_t>(hypothesis.size());
  result.push_back(double(length));
  result.push_back(double(nearestLength(length, references)));
  return result;
}

Bleu::Bleu(const Statistics &sum)
    : hypothesisLength(int64_t(sum[8])), referenceLength(int64_t(sum[9])) {
  for (size_t n = 0; n < matches.size(); ++n) {
    matches[n] = int64_t(sum[2 * n]);
    totals[n] = int64_t(sum[2 * n + 1]);
  }
}

double Bleu::captionScore(size_t order) const {
  constexpr double small = 1e-9, tiny = 1e-15;
  double product = 1;
  for (size_t n = 0; n < order; ++n)
    product *= (double(matches[n]) + tiny) / (double(totals[n]) + small);
  double ratio =
      (double(hypothesisLength) + tiny) / (double(referenceLength) + small);
  double brevity = ratio < 1 ? runtime::expOf(1 - 1 / ratio) : 1;
  return 100 * brevity * runtime::powOf(product, 1 / double(order));
}

BleuScore Bleu::score(Smoothing smoothing, double value, bool effective) const {
  BleuScore result;
  result.hypothesisLength = hypothesisLength;
  result.referenceLength = referenceLength;
  if (hypothesisLength < referenceLength)
    result.brevity =
        hypothesisLength == 0
            ? 0
            : runtime::expOf(1 - static_cast<double>(referenceLength) /
                                     hypothesisLength);
  bool anyMatch = false;
  for (int64_t count : matches)
    anyMatch |= count > 0;
  if (!anyMatch)
    return result;
  double factor = 1;
  size_t orders = effective ? 0 : matches.size();
  for (size_t n = 0; n < matches.size(); ++n) {
    double match = matches[n], total = totals[n];
    if (smoothing == Smoothing::AddK && n > 0) {
      match += value;
      total += value;
    }
    // No hypothesis has n tokens, so the higher orders are empty too.
    if (total == 0)
      break;
    if (effective)
      orders = n + 1;
    if (match > 0)
      result.precisions[n] = 100 * match / total;
    else if (smoothing == Smoothing::Exp)
      result.precisions[n] = 100 / ((factor *= 2) * total);
    else if (smoothing == Smoothing::Floor)
      result.precisions[n] = 100 * value / total;
  }
  // An order without a precision makes the score 0, but for rounding; that is
  // sacreBLEU's log of 0.
  double sum = 0;
  for (size_t n = 0; n < orders; ++n)
    sum += result.precisions[n] == 0 ? -9999999999
                                     : runtime::logOf(result.precisions[n]);
  result.score = result.brevity * runtime::expOf(sum / double(orders));
  return result;
}
