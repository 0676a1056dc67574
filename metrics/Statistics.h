//===- Statistics.h - counts that a metric sums ---------------------------===//
//
// A metric counts something on each line, adds up the counts of all lines and
// computes one value from the sum. So the value of one line, of a corpus and of
// a resampled corpus are the same function of different sums.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_STATISTICS_H
#define FOVEA_METRICS_STATISTICS_H

#include <vector>

namespace fovea::metrics {

/// The counts of one line or of a sum of lines; each metric has a fixed number.
using Statistics = std::vector<double>;

} // namespace fovea::metrics

#endif // FOVEA_METRICS_STATISTICS_H
