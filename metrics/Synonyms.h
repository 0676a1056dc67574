//===- Synonyms.h - words of one meaning ----------------------------------===//
//
// Reads the files of WordNet (Fellbaum, 1998), index.noun, data.noun, noun.exc
// and those of verbs, adjectives and adverbs, as they lie in the folder of a
// distribution, and a table of paraphrases, `word<TAB>word` per line. A word is
// looked up as it stands, and by the forms that endings and exceptions say
// (WordNet's morphy).
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
  bool hasParaphrases() const { return !paraphrases.empty(); }

  /// The words, in small letters, that share a meaning with one.
  std::set<std::string> of(const std::string &word) const;
  /// The words that a table has beside one.
  std::set<std::string> paraphrasesOf(const std::string &word) const;

private:
  struct Part {
    std::unordered_map<std::string, std::vector<size_t>> offsets; // of senses
    std::unordered_map<std::string, std::vector<std::string>> exceptions;
    std::string data;
  };

  static std::vector<std::string> formsOf(const Part &part, size_t number,
                                          const std::string &word);

  std::array<Part, 4> parts; // of speech
  bool isRead = false;
  std::unordered_map<std::string, std::set<std::string>> paraphrases;
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_SYNONYMS_H
