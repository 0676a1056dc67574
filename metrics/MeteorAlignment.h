//===- MeteorAlignment.h - which words of two lines are paired ------------===//
//
// Equal words, words of one stem (Snowball's for English), words that share a
// meaning and phrases that are paraphrases may be paired. No word has two
// partners. The best pairing covers most words, then has the fewest runs, then
// moves words the least. The search runs from left to right, with the 40 best
// so far, exactly as in METEOR 1.5: pairs of different words count a half, and
// halves of one step are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_METEORALIGNMENT_H
#define FOVEA_METRICS_METEORALIGNMENT_H

#include "metrics/Synonyms.h"

namespace fovea::metrics {

/// How a pair is found: equal, one stem, one meaning, paraphrases.
inline constexpr size_t numModules = 4;

struct MeteorWord {
  std::string text, stem;
  std::set<size_t> meanings;
};
using MeteorWords = std::vector<MeteorWord>;

/// `ownLength` words from `own` on of the line, and those of the reference.
struct MeteorPair {
  size_t other, otherLength, own, ownLength, module;
};

/// The pairs, in the order of the reference. `synonyms` may be null.
std::vector<MeteorPair> alignMeteor(const MeteorWords &line,
                                    const MeteorWords &reference,
                                    const Synonyms *synonyms);

} // namespace fovea::metrics

#endif // FOVEA_METRICS_METEORALIGNMENT_H
