//===- Matrix.cpp - a matrix as coloured cells ----------------------------===//

#include "pictures/Color.h"
#include "pictures/Page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea::pictures;

/// Longer words end in an ellipsis; at the left stand lines as well.
static constexpr size_t longestLabel = 24, longestLine = 48;
static constexpr double titleHeight = 22, gap = 5;
/// Turned by 45 degrees, a text is so high and wide for its length.
static constexpr double slope = 0.7072;

namespace {

class MatrixPainter {
public:
  MatrixPainter(const Matrix &matrix, const Scale &scale);
  Canvas paint();

private:
  void paintColumnLabels();
  void paintRowLabels();
  void paintCell(int64_t row, int64_t column);
  void paintNumber(double value, double x, double y, const Color &color);
  /// Every how many places a label fits.
  int64_t stride(bool turned) const {
    double room = turned ? cell * slope : cell;
    return std::max<int64_t>(1, std::ceil(0.95 * labelSize / room));
  }

  const Matrix &matrix;
  const Scale &scale;
  Canvas canvas;
  double cell = 26, labelSize = 12;
  bool isTurned = false; // the labels of columns
  double left = 0, top = 0;
};

} // namespace

MatrixPainter::MatrixPainter(const Matrix &matrix, const Scale &scale)
    : matrix(matrix), scale(scale) {
  int64_t most = std::max(matrix.rows.size, matrix.columns.size);
  if (most > 45)
    cell = std::max(3.0, std::floor(45 * cell / most));
  labelSize = std::clamp(cell * 0.85, 8.0, 12.0);
  double widest = widthOf(matrix.rows.name, labelSize) + 12, longest = 0;
  for (int64_t row = 0; row < matrix.rows.size; ++row)
    widest = std::max(
        widest, widthOf(shortened(visible(matrix.rows.label(row)), longestLine),
                        labelSize));
  for (int64_t column = 0; column < matrix.columns.size; ++column)
    longest = std::max(
        longest,
        widthOf(shortened(visible(matrix.columns.label(column)), longestLabel),
                labelSize));
  // What is a little too wide for its cell is written smaller instead.
  isTurned = longest > 1.45 * cell;
  left = widest + gap + 4;
  top = titleHeight + 16 +
        (isTurned ? (longest + labelSize) * slope : labelSize) + gap;
  double right = isTurned ? (longest + labelSize) * slope : 8;
  canvas.width = left + matrix.columns.size * cell + right + 8;
  canvas.width =
      std::max(canvas.width, std::min(420.0, widthOf(matrix.title, 12.5)) + 16);
  canvas.height = top + matrix.rows.size * cell + 12;
}

void MatrixPainter::paintColumnLabels() {
  for (int64_t column = 0; column < matrix.columns.size;
       column += stride(isTurned)) {
    std::string full = matrix.columns.label(column);
    std::string text = shortened(visible(full), longestLabel);
    TextStyle style;
    style.size = labelSize;
    style.turn = isTurned ? -45 : 0;
    style.anchor = isTurned ? Anchor::Start : Anchor::Middle;
    if (!isTurned)
      style.size = std::min(labelSize,
                            labelSize * (cell - 1) / widthOf(text, labelSize));
    double x = left + (column + 0.5) * cell + (isTurned ? labelSize * 0.3 : 0);
    canvas.text(x, top - gap, text, style, visible(full));
  }
}

void MatrixPainter::paintRowLabels() {
  for (int64_t row = 0; row < matrix.rows.size; row += stride(false)) {
    std::string full = matrix.rows.label(row);
    std::string text = shortened(visible(full), longestLine);
    TextStyle style;
    style.size = labelSize;
    style.anchor = Anchor::End;
    canvas.text(left - gap, top + (row + 0.5) * cell + labelSize * 0.35, text,
                style, visible(full));
  }
}

/// At most four characters.
static std::string brief(double value) {
  double size = std::abs(value);
  std::string text;
  if (size < 0.995) {
    text = fmt::format("{:.2f}", value);
    // `.25`, for the cell is narrow.
    text.erase(text.find('0'), 1);
  } else if (size < 9.95) {
    text = fmt::format("{:.1f}", value);
  } else if (size < 999.5) {
    text = fmt::format("{:.0f}", value);
  } else {
    text = fmt::format("{:.0e}", value);
    text.erase(std::remove(text.begin(), text.end(), '+'), text.end());
  }
  if (text == "1.0")
    text = "1";
  return text;
}

void MatrixPainter::paintNumber(double value, double x, double y,
                                const Color &color) {
  TextStyle style;
  style.size = 9;
  style.anchor = Anchor::Middle;
  style.color = color.isDark() ? "#ffffff" : "#222222";
  canvas.text(x + cell / 2, y + cell / 2 + 3.2, brief(value), style);
}

void MatrixPainter::paintCell(int64_t row, int64_t column) {
  double value = matrix.values[row * matrix.columns.size + column];
  double x = left + column * cell, y = top + row * cell;
  std::string tip = fmt::format("{} \xe2\x86\x92 {}: {}",
                                visible(matrix.columns.label(column)),
                                visible(matrix.rows.label(row)), textOf(value));
  if (!std::isfinite(value)) {
    canvas.rectangle(x, y, cell, cell, "#dddddd", "#999999", tip);
    TextStyle style;
    style.size = std::min(9.0, cell);
    style.anchor = Anchor::Middle;
    canvas.text(x + cell / 2, y + cell / 2 + 3.2,
                std::isnan(value) ? "nan"
                : value > 0       ? "inf"
                                  : "-inf",
                style);
    return;
  }
  double share = scale.share(value);
  Color color = colorOf(share);
  if (cell >= 22) {
    canvas.rectangle(x, y, cell, cell, color.hex, "#c8c8c8", tip);
    if (std::abs(share) >= 0.005)
      paintNumber(value, x, y, color);
    return;
  }
  // Too small for a number: a square whose area is the value.
  canvas.rectangle(x, y, cell, cell, "#ffffff", "#ececec", tip);
  double side = (cell - 0.5) * std::sqrt(std::abs(share));
  if (side >= 0.5)
    canvas.rectangle(
        x + (cell - side) / 2, y + (cell - side) / 2, side, side,
        colorOf(std::copysign(0.35 + 0.65 * std::abs(share), share)).hex,
        "none", tip);
}

Canvas MatrixPainter::paint() {
  canvas.title(matrix.title);
  if (matrix.values.empty()) {
    canvas.text(4, titleHeight + 12,
                fmt::format("no values: {} rows, {} columns", matrix.rows.size,
                            matrix.columns.size),
                {});
    canvas.height = titleHeight + 24;
    return std::move(canvas);
  }
  TextStyle name;
  name.size = 10;
  name.color = "#666666";
  if (!matrix.columns.name.empty())
    canvas.text(left, titleHeight + 8, matrix.columns.name + " \xe2\x86\x92",
                name);
  name.anchor = Anchor::End;
  if (!matrix.rows.name.empty())
    canvas.text(left - gap, top - gap, matrix.rows.name + " \xe2\x86\x93",
                name);
  paintColumnLabels();
  paintRowLabels();
  for (int64_t row = 0; row < matrix.rows.size; ++row)
    for (int64_t column = 0; column < matrix.columns.size; ++column)
      paintCell(row, column);
  canvas.rectangle(left, top, matrix.columns.size * cell,
                   matrix.rows.size * cell, "none", "#444444");
  return std::move(canvas);
}

Canvas fovea::pictures::drawMatrix(const Matrix &matrix, const Scale &scale) {
  return MatrixPainter(matrix, scale).paint();
}
