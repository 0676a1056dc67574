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
  /// The array of weights: a row for each generated symbol, a column for each
  /// given one. Empty: nothing is replaced.
  std::string weights;
  /// The names of the generated and of the given data.
  std::string generated, given;
  std::map<std::string, std::string> dictionary;

  /// The word for the symbol generated at `place`; of equal weights the first
  /// counts. The end of the given sentence is no word. Nothing where there are
  /// no words.
  std::optional<std::string>
  wordAt(size_t place, const DataValues &values,
         const std::vector<std::string> &words) const;
};

/// The symbols of a line as they stand there; those of `field`.
std::vector<std::string> wordsOf(std::string_view line, const TextField &field,
                                 const Vocabularies &vocabularies);

/// Names the given words of an example that has come as ids.
void nameWords(Example &example, const TextField &field,
               const Vocabularies &vocabularies);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_UNKNOWNWORDS_H
