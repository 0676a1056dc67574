//===- RowText.cpp - rows of generated values as text ---------------------===//

#include "runtime/data/RowText.h"

using namespace fovea::runtime;

const std::vector<int64_t> *
fovea::runtime::rowsOf(const std::vector<DataAxis> &axes,
                       const DataValues &values, const Lengths &lengths) {
  bool isNested = axes.size() == values.shape.size() && axes.size() > 1 &&
                  !axes[1].parent.empty();
  auto rows = isNested ? lengths.find(axes[1].length) : lengths.end();
  return rows == lengths.end() ? nullptr : &rows->second.values;
}

std::string fovea::runtime::textOfRows(const TextField &field,
                                       const DataValues &values,
                                       const std::vector<int64_t> &rows,
                                       bool hasEnd,
                                       const Vocabularies &vocabularies) {
  std::string between =
      field.separators.empty() ? "|" : field.separators.front();
  int64_t width = 1; // of one place
  for (size_t axis = 2; axis < values.shape.size(); ++axis)
    width *= values.shape[axis];
  std::string text;
  for (size_t row = 0; row < rows.size(); ++row) {
    DataValues own;
    own.shape = {rows[row]};
    own.shape.insert(own.shape.end(), values.shape.begin() + 2,
                     values.shape.end());
    auto begin = values.values.begin() + row * values.shape[1] * width;
    own.values.assign(begin, begin + rows[row] * width);
    std::string words = textOf(field, own, hasEnd, vocabularies);
    if (row > 0)
      text += (text.empty() ? "" : " ") + between + (words.empty() ? "" : " ");
    text += words;
  }
  return text;
}
