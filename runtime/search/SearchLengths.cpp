//===- SearchLengths.cpp - how long things are in a step of a search ------===//

#include "runtime/search/SearchRun.h"

#include <algorithm>

using namespace fovea::runtime;

void SearchRun::findLengths() {
  const auto &names = decoder.lengths;
  for (const std::string &name : names) {
    if (name == search.openLength)
      openLength = lengths.size();
    lengths.push_back(encoded.lengthNamed(name));
    int64_t &parent = parents.emplace_back(0);
    for (const Program::Length &own : decoder.programs[decoder.encode].lengths)
      if (own.name == name) {
        auto found = std::find(names.begin(), names.end(), own.parent);
        parent = found == names.end() ? own.parentExtent
                                      : -1 - (found - names.begin());
      }
  }
}

/// A number, or a length of the example: the steps so far if the search finds
/// it.
int64_t SearchRun::lengthAt(int64_t extent, int64_t example) const {
  if (extent >= 0)
    return extent;
  int64_t id = -1 - extent;
  if (id == openLength)
    return step + 1;
  return lengths[id] ? lengths[id]->extents[example] : 0;
}

int64_t SearchRun::countOf(const std::vector<int64_t> &shape,
                           int64_t example) const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= lengthAt(extent, example);
  return count;
}

/// The number of a step in the loop's count: from its end if the search runs
/// backward.
int64_t SearchRun::indexOf(int64_t at, int64_t example) const {
  return decoder.reverse ? lengthAt(decoder.extent, example) - 1 - at : at;
}

/// The same as `lengthAt`, but for a nested length its value at place `at` of
/// the outer length.
int64_t SearchRun::rowLengthAt(int64_t extent, int64_t example,
                               int64_t at) const {
  const Tables::Length *length = extent < 0 ? lengths[-1 - extent] : nullptr;
  if (!length || length->values.empty())
    return lengthAt(extent, example);
  return length->values[length->starts[example] + at];
}

/// Returns whether an array has an element there: past a nested length it has
/// none.
bool SearchRun::isInside(const std::vector<int64_t> &shape, int64_t element,
                         int64_t example) const {
  std::vector<int64_t> at(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    int64_t count = lengthAt(shape[axis], example);
    at[axis] = element % count;
    element /= count;
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] >= 0)
      continue;
    // Any other axis is the step's.
    int64_t row = indexOf(step, example);
    for (size_t before = 0; before < axis; ++before)
      if (shape[before] == parents[-1 - shape[axis]])
        row = at[before];
    if (at[axis] >= rowLengthAt(shape[axis], example, row))
      return false;
  }
  return true;
}

int64_t SearchRun::lastElement(int number, int64_t example) const {
  const Decoder::Choice &choice = decoder.choices[number];
  int64_t size = choice.valueSize();
  int64_t last = countOf(choice.shape, example) / size - 1;
  while (last >= 0 && !isInside(choice.shape, last * size, example))
    --last;
  return last;
}

/// Returns whether a length is nested in the search's length.
bool SearchRun::isRowOfStep(int64_t extent) const {
  return extent < 0 && parents[-1 - extent] == decoder.extent &&
         lengths[-1 - extent] && !lengths[-1 - extent]->values.empty();
}
