//===- Cider.h - n-grams that references agree on -------------------------===//
//
// CIDEr and CIDEr-D of Vedantam, Zitnick and Parikh (2015). The weight of an
// n-gram of a line is its count there times log(lines / lines whose references
// have it). So frequent phrases count little:
//
//   CIDEr   = 10 mean over n = 1..4, references r of  g(h) g(r) / |g(h)| |g(r)|
//   CIDEr-D = the same with min(g(h), g(r)) g(r) in the place of the product,
//             times exp(-(l(h) - l(r))^2 / (2 6^2))
//
// with the weights g of order n and the lengths l, which count bigrams, as
// coco-caption does. The mean over lines; equal to pycocoevalcap's, whose
// 'CIDEr' is CIDEr-D.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_CIDER_H
#define FOVEA_METRICS_CIDER_H

#include "metrics/Text.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>

namespace fovea::metrics {

/// How many lines have an n-gram in their references.
class NgramCorpus {
public:
  void add(const std::vector<Tokens> &references);
  /// log(lines / lines with the n-gram).
  double weightOf(const Tokens &ngram) const;

private:
  int64_t lines = 0;
  std::map<Tokens, int64_t> linesWith;
};

class Cider {
public:
  /// Without a corpus, the lines that are added determine the weights.
  explicit Cider(bool isD, std::shared_ptr<const NgramCorpus> corpus = nullptr)
      : isD(isD), corpus(std::move(corpus)) {}

  /// Adds a line with one reference or more.
  void add(const Tokens &hypothesis, const std::vector<Tokens> &references);
  /// Returns the value of a line. Weights depend on all lines so far.
  double score(size_t line) const;

private:
  friend class NgramCorpus;
  static constexpr size_t orders = 4;
  /// By order, how often each n-gram is there.
  using Counts = std::array<std::map<Tokens, int64_t>, orders>;
  struct Weights {
    std::array<std::map<Tokens, double>, orders> of;
    std::array<double, orders> norm = {};
    double length = 0;
  };
  struct Line {
    Counts hypothesis;
    std::vector<Counts> references;
  };

  static Counts count(const Tokens &tokens);
  Weights weigh(const Counts &counts) const;
  double compare(const Weights &hypothesis, const Weights &reference) const;

  bool isD;
  std::shared_ptr<const NgramCorpus> corpus;
  std::vector<Line> lines;
  NgramCorpus own;
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_CIDER_H
