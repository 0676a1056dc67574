//===- Cider.cpp - n-grams that references agree on -----------------------===//

#include "metrics/Cider.h"
#include "runtime/Functions.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace fovea;
using namespace fovea::metrics;

Cider::Counts Cider::count(const Tokens &tokens) {
  Counts counts;
  for (size_t order = 1; order <= orders; ++order)
    for (size_t i = 0; i + order <= tokens.size(); ++i)
      ++counts[order - 1]
              [Tokens(tokens.begin() + i, tokens.begin() + i + order)];
  return counts;
}

void Cider::add(const Tokens &hypothesis,
                const std::vector<Tokens> &references) {
  Line &line = lines.emplace_back();
  line.hypothesis = count(hypothesis);
  for (const Tokens &reference : references)
    line.references.push_back(count(reference));
  if (!corpus)
    own.add(references);
}

void NgramCorpus::add(const std::vector<Tokens> &references) {
  ++lines;
  std::set<Tokens> present;
  for (const Tokens &reference : references)
    for (const auto &ngrams : Cider::count(reference))
      for (const auto &[ngram, times] : ngrams)
        present.insert(ngram);
  for (const Tokens &ngram : present)
    ++linesWith[ngram];
}

double NgramCorpus::weightOf(const Tokens &ngram) const {
  auto found = linesWith.find(ngram);
  double with = found == linesWith.end() ? 1 : double(found->second);
  return runtime::logOf(double(lines)) - runtime::logOf(with);
}

Cider::Weights Cider::weigh(const Counts &counts) const {
  Weights weights;
  const NgramCorpus &known = corpus ? *corpus : own;
  for (size_t n = 0; n < orders; ++n) {
    for (const auto &[ngram, times] : counts[n]) {
      double weight = double(times) * known.weightOf(ngram);
      weights.of[n][ngram] = weight;
      weights.norm[n] += weight * weight;
      weights.length += n == 1 ? double(times) : 0;
    }
    weights.norm[n] = std::sqrt(weights.norm[n]);
  }
  return weights;
}

double Cider::compare(const Weights &hypothesis,
                      const Weights &reference) const {
  double sum = 0;
  for (size_t n = 0; n < orders; ++n) {
    double product = 0;
    for (const auto &[ngram, weight] : hypothesis.of[n]) {
      auto found = reference.of[n].find(ngram);
      double other = found == reference.of[n].end() ? 0 : found->second;
      product += (isD ? std::min(weight, other) : weight) * other;
    }
    if (hypothesis.norm[n] != 0 && reference.norm[n] != 0)
      product /= hypothesis.norm[n] * reference.norm[n];
    sum += product;
  }
  double far = hypothesis.length - reference.length;
  double penalty = isD ? runtime::expOf(-far * far / (2 * 6.0 * 6.0)) : 1;
  return sum * penalty / orders;
}

double Cider::score(size_t line) const {
  Weights hypothesis = weigh(lines[line].hypothesis);
  double sum = 0;
  for (const Counts &reference : lines[line].references)
    sum += compare(hypothesis, weigh(reference));
  return 10 * sum / double(lines[line].references.size());
}
