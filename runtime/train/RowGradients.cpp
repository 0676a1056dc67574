//===- RowGradients.cpp - gradients of some rows of a parameter -----------===//

#include "runtime/train/RowGradients.h"
#include "runtime/train/RowNames.h"

#include <cassert>
#include <utility>

using namespace fovea::runtime;

bool fovea::runtime::listsRows(const Workspace &workspace,
                               const std::string &path) {
  return workspace.hasOutput(partName(0, path));
}

template <typename T>
RowGradient<T> fovea::runtime::readRows(const Workspace &workspace,
                                        const std::string &path, int64_t rows,
                                        int64_t width) {
  struct Part {
    const T *terms, *values;
  };
  std::vector<Part> parts;
  for (int number = 0; workspace.hasOutput(partName(number, path)); ++number) {
    parts.push_back({workspace.wholeOutput<T>(termsName(number, path)),
                     workspace.wholeOutput<T>(partName(number, path))});
    assert(parts.back().terms && parts.back().values &&
           "a batch has a gradient once, in the type of the weights");
  }
  RowGradient<T> result;
  for (int64_t row = 0; row < rows; ++row) {
    bool hasTerms = false;
    for (const Part &part : parts)
      hasTerms |= part.terms[row] != 0;
    if (hasTerms)
      result.rows.push_back(row);
  }
  result.values.resize(result.rows.size() * width);
  T *sum = result.values.data();
  for (int64_t row : result.rows) {
    // Zeros are added, too: the bits are those of the whole gradient.
    for (const Part &part : parts)
      if (part.terms[row] != 0)
        for (int64_t i = 0; i < width; ++i)
          sum[i] += part.values[row * width + i];
    sum += width;
  }
  return result;
}

template <typename T>
void fovea::runtime::addRowsTo(RowGradient<T> &sum, const RowGradient<T> &other,
                               int64_t width) {
  RowGradient<T> both;
  both.rows.reserve(sum.rows.size() + other.rows.size());
  both.values.reserve(sum.values.size() + other.values.size());
  size_t i = 0, j = 0;
  while (i < sum.rows.size() || j < other.rows.size()) {
    bool isLeft = j == other.rows.size() ||
                  (i < sum.rows.size() && sum.rows[i] <= other.rows[j]);
    bool isRight = i == sum.rows.size() ||
                   (j < other.rows.size() && other.rows[j] <= sum.rows[i]);
    both.rows.push_back(isLeft ? sum.rows[i] : other.rows[j]);
    const T *left = sum.at(i, width), *right = other.at(j, width);
    for (int64_t k = 0; k < width; ++k)
      both.values.push_back(isLeft && isRight ? left[k] + right[k]
                            : isLeft          ? left[k]
                                              : right[k]);
    i += isLeft;
    j += isRight;
  }
  sum = std::move(both);
}

namespace fovea::runtime {
template RowGradient<float> readRows(const Workspace &, const std::string &,
                                     int64_t, int64_t);
template RowGradient<double> readRows(const Workspace &, const std::string &,
                                      int64_t, int64_t);
template void addRowsTo(RowGradient<float> &, const RowGradient<float> &,
                        int64_t);
template void addRowsTo(RowGradient<double> &, const RowGradient<double> &,
                        int64_t);
} // namespace fovea::runtime
