//===- Chrf.h - n-grams of characters -------------------------------------===//
//
// chrF2 of Popovic (2015): precision P and recall R of n-grams of characters
// without spaces, averaged over the orders 1 .. 6 that both sides have, then
//
//   chrF2 = 100 (1 + 2^2) P R / (2^2 P + R)
//
// of the counts of a whole corpus. chrF2++ (Popovic, 2017) also averages over
// n-grams of 1 and 2 words. A punctuation mark at the end or at the beginning
// of a word is a word of its own. Of several references the best counts for
// each line. Equal to sacreBLEU's chrF2 to the last digit printed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_CHRF_H
#define FOVEA_METRICS_CHRF_H

#include "metrics/Statistics.h"

#include <cstddef>
#include <string_view>

namespace fovea::metrics {

/// Counts the n-grams of a line with one reference or more. `wordOrders` is 0
/// for chrF2 and 2 for chrF2++.
Statistics countChrf(std::string_view hypothesis,
                     const std::vector<std::string_view> &references,
                     size_t wordOrders);

/// Returns 0 .. 100.
double chrfScore(const Statistics &sum);

} // namespace fovea::metrics

#endif // FOVEA_METRICS_CHRF_H
