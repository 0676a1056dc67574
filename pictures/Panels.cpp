//===- Panels.cpp - arrays of any rank as panels --------------------------===//

#include "pictures/Page.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace fovea::pictures;

Axis fovea::pictures::fittedAxis(const std::vector<Axis> &axes, size_t number,
                                 int64_t size) {
  Axis axis;
  if (number < axes.size())
    axis = axes[number];
  axis.size = size;
  if (static_cast<int64_t>(axis.labels.size()) != size)
    axis.labels.clear();
  return axis;
}

std::string fovea::pictures::groupOf(const std::string &name) {
  std::string group;
  for (size_t begin = 0, end = 0; begin <= name.size(); begin = end + 1) {
    end = std::min(name.find('.', begin), name.size());
    std::string part = name.substr(begin, end - begin);
    if (part.empty() || part.find_first_not_of("0123456789") != part.npos)
      group += (group.empty() ? "" : ".") + part;
  }
  return group;
}

/// Whether an axis has lines of words, which stand at the left.
static bool hasLines(const Axis &axis) {
  return std::any_of(axis.labels.begin(), axis.labels.end(),
                     [](const std::string &label) {
                       return std::count(label.begin(), label.end(), ' ') > 1;
                     });
}

static Matrix transposed(Matrix matrix) {
  std::vector<double> values(matrix.values.size());
  for (int64_t row = 0; row < matrix.rows.size; ++row)
    for (int64_t column = 0; column < matrix.columns.size; ++column)
      values[column * matrix.rows.size + row] =
          matrix.values[row * matrix.columns.size + column];
  matrix.values = std::move(values);
  std::swap(matrix.rows, matrix.columns);
  return matrix;
}

void fovea::pictures::addPanels(Page &page, const std::string &title,
                                const std::string &group,
                                const std::vector<int64_t> &shape,
                                const std::vector<double> &values,
                                const std::vector<Axis> &axes) {
  size_t rank = shape.size();
  if (rank < 2) {
    Bars bars;
    bars.title = title;
    bars.group = group;
    bars.rows = fittedAxis(axes, 0, rank == 0 ? 1 : shape[0]);
    if (rank == 0)
      bars.rows.labels = {"value"};
    bars.values = values;
    page.panels.push_back(std::move(bars));
    return;
  }
  int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  size_t size = rows * columns;
  size_t count = size == 0 ? 1 : values.size() / size;
  for (size_t number = 0; number < count; ++number) {
    std::vector<int64_t> place(rank - 2);
    size_t rest = number;
    for (size_t axis = rank - 2; axis-- > 0; rest /= shape[axis])
      place[axis] = static_cast<int64_t>(rest) % shape[axis];
    Matrix matrix;
    matrix.group = group;
    matrix.title = place.empty()
                       ? title
                       : fmt::format("{}[{}]", title, fmt::join(place, ","));
    matrix.beginsRow = !place.empty() && place.back() == 0;
    matrix.rows = fittedAxis(axes, rank - 2, rows);
    matrix.columns = fittedAxis(axes, rank - 1, columns);
    auto first = values.begin() + number * size;
    matrix.values.assign(first, first + size);
    if (hasLines(matrix.columns) && !hasLines(matrix.rows))
      matrix = transposed(std::move(matrix));
    page.panels.push_back(std::move(matrix));
  }
}
