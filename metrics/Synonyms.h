//===- Synonyms.h - words and phrases of one meaning ----------------------===//
//
// Reads the files of WordNet (Fellbaum, 1998), index.noun and noun.exc and
// those of verbs, adjectives and adverbs, from the folder of a distribution. A
// word has the meanings that it has in any part of speech, and the meanings of
// its base form. The base form comes from the exceptions, or else from the
// first ending that leaves a word. A meaning is the number of its line in
// WordNet.
//
// A table of paraphrases has a pair on a line, `phrase<TAB>phrase`, or is one
// of METEOR's: a number, a phrase and its paraphrase on three lines, compressed
// or not.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_SYNONYMS_H
#define FOVEA_METRICS_SYNONYMS_H

#include "metrics/Text.h"

#include <array>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace fovea::metrics {

class Synonyms {
public:
  /// Reads the folder of WordNet. False, and `problem` says why.
  bool readWordNet(const std::string &folder, std::string &problem);
  /// Reads a table of paraphrases.
  bool readParaphrases(const std::string &path, std::string &problem);

  bool hasWordNet() const { return isRead; }
  bool hasParaphrases() const { return !pairs.empty(); }

  /// The numbers of the meanings of a word in small letters.
  std::set<size_t> meaningsOf(const std::string &word) const;
  /// What the table has beside a phrase, words with one space between, in its
  /// order.
  std::vector<std::string_view> paraphrasesOf(std::string_view phrase) const;
  /// How many words the longest phrase has.
  size_t longestPhrase() const { return longest; }

  /// The words of a line, which spaces are between.
  static std::vector<std::string_view> wordsOf(std::string_view line);

private:
  bool addPhrase(std::string_view line);
  std::string_view phraseAt(size_t begin) const;

  std::unordered_map<std::string, std::set<size_t>> meanings;
  std::unordered_map<std::string, std::set<std::string, std::less<>>> bases;
  bool isRead = false;
  std::string phrases;       // each ends with a line
  std::vector<size_t> pairs; // where each begins, by the first phrase
  size_t longest = 0;
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_SYNONYMS_H
