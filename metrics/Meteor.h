//===- Meteor.h - words and phrases that mean the same --------------------===//
//
// METEOR 1.5 (Denkowski and Lavie, 2014) for English, with the parameters for
// ranking. Words and phrases of a line are paired with words and phrases of a
// reference (MeteorAlignment.h). A pair has the weight w: 1, 0.6, 0.8 and 0.6
// for equal words, stems, synonyms and paraphrases. A word has the weight d:
// 0.25 if it is a function word, otherwise 0.75.
//
//   P = sum of w d over the paired words of the line / sum of d over all of it
//   R = the same of the reference
//   F = 1 / (0.15 / P + 0.85 / R)
//   METEOR = F (1 - 0.6 (chunks / pairs)^0.2)
//
// where chunks are runs in the same order in both, or 0 if a line is wholly one
// run. Pairs is the mean of the paired words of both. Of several references the
// best counts. The value of all lines is the formula of the sums over them, as
// in coco-caption.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_METEOR_H
#define FOVEA_METRICS_METEOR_H

#include "metrics/MeteorAlignment.h"
#include "metrics/Statistics.h"

#include <memory>

struct sb_stemmer; // of libstemmer

namespace fovea::metrics {

class Meteor {
public:
  explicit Meteor(std::shared_ptr<const Synonyms> synonyms);
  ~Meteor();

  /// Counts the pairs of a line with its best reference.
  Statistics count(const Tokens &hypothesis,
                   const std::vector<Tokens> &references) const;
  /// Returns 0 to 1.
  static double score(const Statistics &sum);

private:
  /// The words of one side, and the paired ones.
  struct Side {
    double words = 0, functionWords = 0;
    std::array<double, numModules> content = {}, function = {};

    double paired() const;
    /// The share of what is paired.
    double share() const;
    void append(Statistics &to) const;
    void read(const double *from);
  };
  struct Counts {
    Side hypothesis, reference;
    double chunks = 0;

    bool isWhole() const;
    double score() const;
  };

  MeteorWords wordsOf(const Tokens &tokens) const;
  Counts compare(const MeteorWords &hypothesis,
                 const MeteorWords &reference) const;

  std::shared_ptr<const Synonyms> synonyms;
  sb_stemmer *stemmer;
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_METEOR_H
