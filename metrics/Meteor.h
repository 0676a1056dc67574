//===- Meteor.h - words that mean the same --------------------------------===//
//
// METEOR of Banerjee and Lavie (2005), with the parameters of Lavie and Agarwal
// (2007). Words of a line and a reference are paired: first equal ones, then
// those with one stem (Snowball's for English), then synonyms, then
// paraphrases, each from the last word to the first and with the last word that
// is free. With m pairs, which make c runs that stand in one order:
//
//   P = m / words,  R = m / words of the reference
//   METEOR = P R / (0.9 P + 0.1 R) (1 - 0.5 (c / m)^3)
//
// of the best reference; the mean over lines. Equal to NLTK's meteor_score with
// the stemmer 'english'. What METEOR 1.5 has beside it (other weights, function
// words, paraphrases of several words) is not here.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_METEOR_H
#define FOVEA_METRICS_METEOR_H

#include "metrics/Synonyms.h"

#include <memory>

struct sb_stemmer; // of libstemmer

namespace fovea::metrics {

class Meteor {
public:
  explicit Meteor(std::shared_ptr<const Synonyms> synonyms);
  ~Meteor();

  /// What a line is worth beside its references, 0 to 1.
  double compare(const Tokens &hypothesis,
                 const std::vector<Tokens> &references) const;

private:
  /// A word that is not paired yet, and its place.
  struct Word {
    size_t place;
    std::string text, stem;
  };
  using Words = std::vector<Word>;

  Words wordsOf(const Tokens &tokens) const;
  double compare(const Tokens &hypothesis, const Tokens &reference) const;

  std::shared_ptr<const Synonyms> synonyms;
  sb_stemmer *stemmer;
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_METEOR_H
