//===- Array.h - an array of numbers of one example -----------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_ARRAY_H
#define FOVEA_DIALECT_REFERENCE_ARRAY_H

#include "dialect/reference/Trees.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fovea::reference {

/// Dense and row-major. Whole numbers and bits are doubles that represent them
/// exactly (up to 2^53). An axis with a nested length is as long as the largest
/// of its lengths; places past a row's own length are zero.
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> values;
  bool integer = false; // elements are i64 or i1
  /// How the values were computed, if that is kept; one for each, or none.
  std::vector<Tree> trees = {};

  Traced at(size_t offset) const {
    return {values[offset], trees.empty() ? 0 : trees[offset]};
  }
  void set(size_t offset, Traced number) {
    values[offset] = number.value;
    if (number.tree && trees.empty())
      trees.resize(values.size());
    if (!trees.empty())
      trees[offset] = number.tree;
  }

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  static Array zeros(std::vector<int64_t> shape, bool integer = false) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return {std::move(shape), std::vector<double>(count, 0.0), integer};
  }
  static Array scalar(double value, bool integer = false) {
    return {{}, {value}, integer};
  }
};

using Arrays = std::map<std::string, Array>;

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_ARRAY_H
