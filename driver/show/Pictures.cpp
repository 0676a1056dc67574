//===- Pictures.cpp - arrays of examples as panels and files --------------===//

#include "driver/show/Pictures.h"
#include "driver/Arguments.h"
#include "driver/data/Files.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

bool fovea::cli::isPicture(StringRef path) {
  return path.ends_with(".html") || path.ends_with(".svg") ||
         path.ends_with(".png");
}

pictures::Axis fovea::cli::fittedAxis(const std::vector<pictures::Axis> &axes,
                                      size_t number, int64_t size) {
  pictures::Axis axis;
  if (number < axes.size())
    axis = axes[number];
  axis.size = size;
  if (static_cast<int64_t>(axis.labels.size()) != size)
    axis.labels.clear();
  return axis;
}

/// Whether an axis has lines of words, which stand at the left.
static bool hasLines(const pictures::Axis &axis) {
  return llvm::any_of(axis.labels, [](const std::string &label) {
    return StringRef(label).count(' ') > 1;
  });
}

static pictures::Matrix transposed(pictures::Matrix matrix) {
  std::vector<double> values(matrix.values.size());
  for (int64_t row = 0; row < matrix.rows.size; ++row)
    for (int64_t column = 0; column < matrix.columns.size; ++column)
      values[column * matrix.rows.size + row] =
          matrix.values[row * matrix.columns.size + column];
  matrix.values = std::move(values);
  std::swap(matrix.rows, matrix.columns);
  return matrix;
}

void fovea::cli::addPanels(pictures::Page &page, const std::string &title,
                           const std::string &name,
                           const runtime::DataValues &array,
                           const std::vector<pictures::Axis> &axes) {
  size_t rank = array.shape.size();
  if (rank < 2) {
    pictures::Bars bars;
    bars.title = title;
    bars.group = name;
    bars.rows = fittedAxis(axes, 0, rank == 0 ? 1 : array.shape[0]);
    if (rank == 0)
      bars.rows.labels = {"value"};
    bars.values = array.values;
    page.panels.push_back(std::move(bars));
    return;
  }
  int64_t rows = array.shape[rank - 2], columns = array.shape[rank - 1];
  size_t size = rows * columns;
  size_t count = size == 0 ? 1 : array.values.size() / size;
  for (size_t number = 0; number < count; ++number) {
    std::vector<int64_t> place(rank - 2);
    size_t rest = number;
    for (size_t axis = rank - 2; axis-- > 0; rest /= array.shape[axis])
      place[axis] = static_cast<int64_t>(rest) % array.shape[axis];
    pictures::Matrix matrix;
    matrix.group = name;
    matrix.title = place.empty()
                       ? title
                       : fmt::format("{}[{}]", title, fmt::join(place, ","));
    matrix.rows = fittedAxis(axes, rank - 2, rows);
    matrix.columns = fittedAxis(axes, rank - 1, columns);
    auto first = array.values.begin() + number * size;
    matrix.values.assign(first, first + size);
    if (hasLines(matrix.columns) && !hasLines(matrix.rows))
      matrix = transposed(std::move(matrix));
    page.panels.push_back(std::move(matrix));
  }
}

/// Asks whoever sits at the terminal; false where nobody does.
static bool isWantedAnyway(const std::string &path, size_t megabytes) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0)
    return false;
  llvm::errs() << fmt::format("'{}' will have {} MB; write it? [y/N] ", path,
                              megabytes);
  std::string answer;
  for (char letter = 0; read(STDIN_FILENO, &letter, 1) == 1 && letter != '\n';)
    answer += letter;
  StringRef word = StringRef(answer).trim();
  return word.equals_insensitive("y") || word.equals_insensitive("yes");
}

int fovea::cli::writePicture(const std::string &path,
                             const pictures::Page &page, int64_t mostBytes) {
  std::string text, problem;
  if (StringRef(path).ends_with(".html"))
    text = pictures::drawHtml(page);
  else if (StringRef(path).ends_with(".svg"))
    text = pictures::drawSvg(page);
  else
    text = pictures::drawPng(page, problem);
  size_t megabytes = (text.size() + 999'999) / 1'000'000;
  if (problem.empty() && mostBytes > 0 &&
      static_cast<int64_t>(text.size()) > mostBytes &&
      !isWantedAnyway(path, megabytes))
    problem = fmt::format(
        "it would have {0} MB and not {1} at most; '--name' draws less, and "
        "'--max-mb {0}' allows for it",
        megabytes, mostBytes / 1'000'000);
  if (problem.empty())
    return writeText(path, text);
  llvm::errs() << "error: cannot draw '" << path << "': " << problem << '\n';
  return badInput;
}
