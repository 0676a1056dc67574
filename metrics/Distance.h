//===- Distance.h - how far one sequence is from another ------------------===//

#ifndef FOVEA_METRICS_DISTANCE_H
#define FOVEA_METRICS_DISTANCE_H

#include "metrics/Text.h"

#include <cstdint>

namespace fovea::metrics {

/// The least number of tokens that are put in, taken out or replaced to make
/// `a` of `b` (Levenshtein, 1966):
///   d[i,j] = min(d[i-1,j] + 1, d[i,j-1] + 1, d[i-1,j-1] + [a_i != b_j])
/// Time O(d max(|a|, |b|) / 64) for a distance of d, memory O(|a| + |b|).
int64_t editDistance(const Tokens &a, const Tokens &b);

/// The length of the longest common subsequence. Time O(|a| |b| / 64), memory
/// O(|a| + |b|).
int64_t commonSubsequence(const Tokens &a, const Tokens &b);

/// The places at which both have the same token.
int64_t equalPlaces(const Tokens &a, const Tokens &b);

} // namespace fovea::metrics

#endif // FOVEA_METRICS_DISTANCE_H
