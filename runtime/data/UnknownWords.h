//===- UnknownWords.h - what stands for words beyond a vocabulary ---------===//
//
// `<unk>` that is generated is replaced through an alignment (Luong et al.,
// 2015b; Jean et al., 2015): by the given word with the largest weight, or by
// what a dictionary has for it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_UNKNOWNWORDS_H
#define FOVEA_RUNTIME_DATA_UNKNOWNWORDS_H

#include "runtime/data/Text.h"

namespace fovea::runtime {

struct UnknownWords {
  /// The array of weights: a row per generated symbol, a column per source
  /// word. Empty: nothing is replaced.
  std::string weights;
  /// The names of the generated data and the source data.
  std::string generated, given;
  std::map<std::string, std::string> dictionary;

  /// Returns the word for the symbol generated at `place`: the source word with
  /// the largest weight, the first of equal ones, never the end of the
  /// sentence. Returns nothing if there are no words.
  std::optional<std::string>
  wordAt(size_t place, const DataValues &values,
         const std::vector<std::string> &words) const;
};

/// Returns the symbols of `field` in a line, unchanged.
std::vector<std::string> wordsOf(std::string_view line, const TextField &field,
                                 const Vocabularies &vocabularies);

/// Names the source words of an example given as ids.
void nameWords(Example &example, const TextField &field,
               const Vocabularies &vocabularies);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_UNKNOWNWORDS_H
