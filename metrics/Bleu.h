//===- Bleu.h - n-grams that references share -----------------------------===//
//
// BLEU of Papineni, Roukos, Ward and Zhu (2002), of a whole corpus:
//
//   BLEU = 100 BP exp(1/4 sum over n = 1..4 of log p_n)
//   p_n  = n-grams of the hypotheses that a reference has, each at most as
//          often as the reference that has it most often / all n-grams
//   BP   = 1, or exp(1 - r / c) where the hypotheses' length c is less than r,
//          the sum of the reference lengths nearest to those of the hypotheses
//
// With the smoothing of Chen and Cherry (2014) where no n-gram of an order is
// shared. Equal to sacreBLEU (Post, 2018) to the last digit printed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_BLEU_H
#define FOVEA_METRICS_BLEU_H

#include "metrics/Statistics.h"
#include "metrics/Text.h"

#include <array>
#include <cstdint>

namespace fovea::metrics {

enum class Smoothing {
  Exp,   // p_n = 1 / (2^k total) of the k-th order without a match (NIST)
  Floor, // p_n = value / total
  AddK,  // adds the value to matches and totals of the orders above 1
  None,
};

struct BleuScore {
  double score = 0; // 0 .. 100
  std::array<double, 4> precisions = {};
  double brevity = 1;
  int64_t hypothesisLength = 0, referenceLength = 0;
};

class Bleu {
public:
  /// Counts the n-grams of a line with one reference or more.
  static Statistics count(const Tokens &hypothesis,
                          const std::vector<Tokens> &references);
  explicit Bleu(const Statistics &sum);

  /// `effective` leaves out the orders for which the hypotheses are too short,
  /// as sacreBLEU does for single lines.
  BleuScore score(Smoothing smoothing, double value,
                  bool effective = false) const;
  /// Of n-grams up to an order as coco-caption has it, 0 .. 100: what is not
  /// there counts as next to nothing.
  double captionScore(size_t order) const;

private:
  std::array<int64_t, 4> matches = {}, totals = {};
  int64_t hypothesisLength = 0, referenceLength = 0;
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_BLEU_H
