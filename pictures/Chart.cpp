//===- Chart.cpp - curves over one axis -----------------------------------===//

#include "pictures/Color.h"
#include "pictures/Page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea::pictures;

static constexpr double left = 62, right = 18, titleHeight = 28, bottom = 40,
                        plotWidth = 460, plotHeight = 240, legendRow = 16;

namespace {

/// Where the values of one axis lie, and its marks.
struct Range {
  double least = 0, most = 1;
  bool isLogarithmic = false;
  std::vector<double> marks;

  double share(double value) const {
    if (isLogarithmic)
      return std::log(value / least) / std::log(most / least);
    return (value - least) / (most - least);
  }
};

} // namespace

/// 1, 2 or 5 times a power of ten, some five to ten of them in the range.
static void addMarks(Range &range) {
  if (range.isLogarithmic) {
    double decades = std::log10(range.most / range.least);
    auto first = static_cast<int>(std::floor(std::log10(range.least)));
    for (int power = first; power <= std::log10(range.most); ++power)
      for (double factor : {1.0, 2.0, 5.0}) {
        double mark = factor * std::pow(10, power);
        bool isWanted = decades < 2 || factor == 1;
        if (isWanted && mark >= range.least * (1 - 1e-9) &&
            mark <= range.most * (1 + 1e-9))
          range.marks.push_back(mark);
      }
    return;
  }
  double step = std::pow(10, std::floor(std::log10(range.most - range.least)));
  while ((range.most - range.least) / step < 5)
    step /= std::fmod(std::log10(step) + 100, 1) < 0.5 ? 2 : 2.5;
  double first = std::ceil(range.least / step - 1e-9);
  double last = range.most * (1 + 1e-12) + step * 1e-9;
  for (int i = 0; (first + i) * step <= last; ++i)
    range.marks.push_back(first + i == 0 ? 0 : (first + i) * step);
}

static Range rangeOf(const Chart &chart, bool ofX) {
  Range range;
  bool isFirst = true;
  for (const Curve &curve : chart.curves)
    for (auto [x, y] : curve.points) {
      double value = ofX ? x : y;
      if (!std::isfinite(value) || (!ofX && chart.isLogarithmic && value <= 0))
        continue;
      range.least = isFirst ? value : std::min(range.least, value);
      range.most = isFirst ? value : std::max(range.most, value);
      isFirst = false;
    }
  range.isLogarithmic = !ofX && chart.isLogarithmic && !isFirst;
  if (range.isLogarithmic) {
    range.least /= 1.1;
    range.most *= 1.1;
  } else {
    if (ofX)
      range.least = std::min(range.least, 0.0);
    if (range.most <= range.least) {
      // A constant runs through the middle, between marks of its own size.
      double room = range.least == 0 ? 1 : std::abs(range.least) * 0.1;
      range.least -= ofX ? 0 : room;
      range.most += room;
    }
    if (!ofX) {
      double room = (range.most - range.least) * 0.05;
      bool isPositive = range.least >= 0;
      range.least -= room;
      range.most += room;
      if (isPositive)
        range.least = std::max(0.0, range.least);
    }
  }
  addMarks(range);
  return range;
}

static void drawAxes(Canvas &canvas, const Chart &chart, const Range &xs,
                     const Range &ys) {
  TextStyle style;
  style.size = 10;
  style.anchor = Anchor::End;
  for (double mark : ys.marks) {
    double y = titleHeight + plotHeight * (1 - ys.share(mark));
    canvas.line(left, y, left + plotWidth, y, "#e4e4e4");
    canvas.text(left - 6, y + 3.5, fmt::format("{:.6g}", mark), style);
  }
  style.anchor = Anchor::Middle;
  double last = -1e9;
  for (double mark : xs.marks) {
    double x = left + plotWidth * xs.share(mark);
    canvas.line(x, titleHeight + plotHeight, x, titleHeight + plotHeight + 4,
                "#444444");
    std::string text = fmt::format("{:.6g}", mark);
    double room = widthOf(text, style.size) / 2 + 3;
    if (x - room < last)
      continue;
    last = x + room;
    canvas.text(x, titleHeight + plotHeight + 16, text, style);
  }
  canvas.text(left + plotWidth / 2, titleHeight + plotHeight + 32, chart.xName,
              style);
  canvas.line(left, titleHeight, left, titleHeight + plotHeight, "#444444");
  canvas.line(left, titleHeight + plotHeight, left + plotWidth,
              titleHeight + plotHeight, "#444444");
}

Canvas fovea::pictures::drawChart(const Chart &chart) {
  Canvas canvas;
  Range xs = rangeOf(chart, true), ys = rangeOf(chart, false);
  canvas.title(chart.title);
  drawAxes(canvas, chart, xs, ys);
  double legend = titleHeight + plotHeight + bottom + 8;
  for (size_t number = 0; number < chart.curves.size(); ++number) {
    const Curve &curve = chart.curves[number];
    std::string color = curveColor(curve.color);
    std::string dash = curve.isDashed ? "6 3" : "";
    std::vector<std::pair<double, double>> points;
    for (size_t i = 0; i < curve.points.size(); ++i) {
      auto [x, y] = curve.points[i];
      if (!std::isfinite(y) || (ys.isLogarithmic && y <= 0))
        continue;
      points.push_back({left + plotWidth * xs.share(x),
                        titleHeight + plotHeight * (1 - ys.share(y))});
      if (i == curve.best)
        canvas.ring(
            points.back().first, points.back().second, 5, color,
            fmt::format("best: {}, {} {}", textOf(y), chart.xName, textOf(x)));
      // Dots of many points would hide the curve.
      bool isFew = curve.points.size() <= 60;
      canvas.dot(points.back().first, points.back().second, isFew ? 2.4 : 1.2,
                 color,
                 fmt::format("{}, {} {}: {}", curve.name, chart.xName,
                             textOf(x), textOf(y)));
    }
    canvas.curve(points, color, dash);
    double y = legend + number * legendRow;
    canvas.curve({{left, y - 4}, {left + 28, y - 4}}, color, dash);
    TextStyle style;
    style.size = 11;
    canvas.text(left + 36, y, shortened(visible(curve.name), 64), style,
                curve.name);
  }
  canvas.width = left + plotWidth + right;
  canvas.height = legend + chart.curves.size() * legendRow;
  return canvas;
}
