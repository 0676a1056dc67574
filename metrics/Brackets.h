//===- Brackets.h - constituents that two trees share ---------------------===//
//
// Labelled brackets as EVALB (Sekine and Collins, 1997) counts them by its
// COLLINS.prm: punctuation (tags , : `` '' . and -NONE-) does not count as
// words, and ADVP and PRT are one label. A line is a tree, `(S (NP (DT the) (NN
// cat)) (VP (VBZ sits)))`, or a tree that was linearised for a translator
// (Vinyals et al., 2015), `(S (NP DT NN )NP (VP VBZ )VP )S`. A constituent is a
// bracket with another one, or with several words, inside. It has a label,
// without what follows `-` or `=` (NP-SBJ is NP), and the words that it covers.
// In a tree of the first kind, a bracket around one word is the word's tag and
// does not count. TOP, ROOT, S1 and brackets without a label do not count
// either. A constituent that occurs twice counts twice.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_BRACKETS_H
#define FOVEA_METRICS_BRACKETS_H

#include "metrics/Text.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace fovea::metrics {

/// How often each constituent is there: label, first word, word after the last.
using Constituents =
    std::map<std::tuple<std::u32string, int64_t, int64_t>, int64_t>;

struct Tree {
  Constituents constituents;
  int64_t words = 0;
  Tokens texts; // of its words; none of a line that was linearised
};

/// The constituents of a line; nothing where its brackets do not match.
std::optional<Tree> parseTree(std::string_view line);

/// How many constituents both have.
int64_t sharedOf(const Constituents &a, const Constituents &b);
int64_t numOf(const Constituents &constituents);

/// Whether EVALB compares the two: they have as many words, and the same ones
/// where both say them.
bool areComparable(const Tree &a, const Tree &b);

} // namespace fovea::metrics

#endif // FOVEA_METRICS_BRACKETS_H
