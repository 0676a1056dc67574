//===- Ter.h - edits that may move words together -------------------------===//
//
// The translation edit rate of Snover et al. (2006): the fewest edits that turn
// a hypothesis into a reference, over the mean length of the references. Moving
// a run of words counts as one edit. Finding the fewest is NP-complete. Like
// Tercom, this search moves the run that saves most edits until no move saves
// any. Its limits equal those of Tercom and sacreBLEU: runs of 10 words, moves
// of 50, 1,000 tries per line, and an edit distance within 25 words of the
// diagonal. So it equals sacreBLEU's TER.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_TER_H
#define FOVEA_METRICS_TER_H

#include "metrics/Text.h"

#include <cstdint>

namespace fovea::metrics {

/// Returns the number of edits and moves. Memory O(|hypothesis| +
/// |reference|).
int64_t translationEdits(const Tokens &hypothesis, const Tokens &reference);

} // namespace fovea::metrics

#endif // FOVEA_METRICS_TER_H
