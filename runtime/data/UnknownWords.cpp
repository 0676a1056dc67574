//===- UnknownWords.cpp - what stands for words beyond a vocabulary -------===//

#include "runtime/data/UnknownWords.h"

#include <algorithm>

using namespace fovea::runtime;

std::optional<std::string>
UnknownWords::wordAt(size_t place, const DataValues &values,
                     const std::vector<std::string> &words) const {
  if (values.shape.size() != 2 ||
      place >= static_cast<size_t>(values.shape[0]) || words.empty())
    return std::nullopt;
  size_t columns = values.shape[1];
  auto row = values.values.begin() + static_cast<ptrdiff_t>(place * columns);
  size_t count = std::min(columns, words.size());
  if (count == 0)
    return std::nullopt;
  const std::string &word =
      words[std::max_element(row, row + static_cast<ptrdiff_t>(count)) - row];
  auto known = dictionary.find(word);
  return known == dictionary.end() ? word : known->second;
}

std::vector<std::string>
fovea::runtime::wordsOf(std::string_view line, const TextField &field,
                        const Vocabularies &vocabularies) {
  std::vector<std::string> words;
  if (const Segmenter *segmenter = vocabularies.piecesOf(field)) {
    for (Segmenter::Piece &piece : piecesOf(line, field, *segmenter))
      words.push_back(std::move(piece.text));
    return words;
  }
  forSymbols(line, vocabularies.isChars(field),
             [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

void fovea::runtime::nameWords(Example &example, const TextField &field,
                               const Vocabularies &vocabularies) {
  auto given = example.data.find(field.name);
  if (given == example.data.end() || !example.words.empty())
    return;
  for (double id : given->second.values)
    if (!field.isSentence || id != double(Symbol::end))
      example.words.push_back(
          vocabularies.wordOf(field, static_cast<int64_t>(id)));
}
