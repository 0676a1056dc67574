//===- RowGradients.h - gradients of some rows of a parameter ---*- C++ -*-===//
//
// A batch reads few rows of an embedding. Its gradient is a list of these rows,
// in ascending order, with the bits that the whole gradient has there. All
// other rows are zero.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_ROWGRADIENTS_H
#define FOVEA_RUNTIME_TRAIN_ROWGRADIENTS_H

#include "runtime/memory/Workspace.h"

namespace fovea::runtime {

template <typename T> struct RowGradient {
  std::vector<int64_t> rows;
  std::vector<T> values; // of each row, consecutively

  const T *at(size_t number, int64_t width) const {
    return values.data() + static_cast<int64_t>(number) * width;
  }
};

/// Returns whether a program lists the rows of the gradient of `path`.
bool listsRows(const Workspace &workspace, const std::string &path);

/// Returns the rows of the gradient of `path`, a parameter of `rows` rows of
/// `width` numbers, that the last run of a program has listed.
template <typename T>
RowGradient<T> readRows(const Workspace &workspace, const std::string &path,
                        int64_t rows, int64_t width);

/// Adds `other` to `sum`.
template <typename T>
void addRowsTo(RowGradient<T> &sum, const RowGradient<T> &other, int64_t width);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_ROWGRADIENTS_H
