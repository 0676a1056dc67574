//===- Significance.h - whether two systems differ by chance --------------===//
//
// Two tests of the null hypothesis that two systems are equally good, given
// their lines for the same references:
//
//   paired bootstrap (Koehn, 2004): draws lines with replacement, the same for
//   both systems. p is the share of draws whose difference is farther from the
//   mean difference than the observed one is from 0.
//
//   approximate randomisation (Riezler and Maxwell, 2005): swaps the lines of
//   the two systems at random. p is the share of swaps whose difference is
//   larger than the observed one.
//
// Both add 1 to the number of draws and to the number of counted ones. Numbers
// of draws, seed and random numbers equal sacreBLEU's (Post, 2018), which uses
// numpy, so that the same lines give the same p.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_SIGNIFICANCE_H
#define FOVEA_METRICS_SIGNIFICANCE_H

#include "metrics/Metric.h"

namespace fovea::metrics {

constexpr int bootstrapDraws = 1000, randomisationDraws = 10000;
constexpr uint32_t significanceSeed = 12345;

/// One system, and how it differs from the first one.
struct SystemResult {
  double value = 0;
  /// The mean of the drawn corpora, and half of the interval that holds 95 % of
  /// them.
  double mean = 0, interval = 0;
  /// The two p; 1 for the first system.
  double bootstrap = 1, randomisation = 1;
};

/// Compares each system with the first one. All have the same number of lines,
/// at least one.
std::vector<SystemResult>
comparePaired(const std::vector<const Metric *> &systems);

} // namespace fovea::metrics

#endif // FOVEA_METRICS_SIGNIFICANCE_H
