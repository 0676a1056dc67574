//===- Strip.cpp - bars under frames, sounds and strokes ------------------===//
//
// The part above has the columns of the bars below it. The height of a bar is
// its value. Beside each row are the value and the place of its highest bar.
//
//===----------------------------------------------------------------------===//

#include "pictures/Color.h"
#include "pictures/Raster.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea::pictures;

static constexpr double titleHeight = 24, rowHeight = 26, frame = 72;
static constexpr size_t longestLabel = 24;

/// The distance of marks on an axis of so many seconds: about eight of them.
static double tickOf(double seconds) {
  for (double tick : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0})
    if (seconds / tick <= 10)
      return tick;
  return std::ceil(seconds / 8);
}

namespace {

class StripPainter {
public:
  StripPainter(const Strip &strip, const Scale &scale)
      : strip(strip), scale(scale) {}
  Canvas paint();

private:
  void paintFrames();
  void paintStrokes();
  void paintRow(int64_t row);
  void paintAxis();

  const Strip &strip;
  const Scale &scale;
  Canvas canvas;
  double left = 0, width = 0, y = titleHeight;
};

} // namespace

void StripPainter::paintFrames() {
  if (strip.above.empty())
    return;
  bool isOne = strip.above.size() == 1;
  double each = width / double(strip.above.size());
  // Of many frames as many as are not too small to be seen.
  size_t stride = isOne ? 1 : size_t(std::max(1.0, std::ceil(40 / each)));
  double height = isOne ? 96 : std::min(frame, each * double(stride) - 3);
  for (size_t i = 0; i < strip.above.size(); i += stride) {
    const Pixels &pixels = strip.above[i];
    double wide = isOne ? width : height;
    canvas.image(left + double(i) * each, y, wide, height, uriOf(pixels));
    canvas.rectangle(left + double(i) * each, y, wide, height, "none",
                     "#888888");
  }
  y += height + 6;
}

void StripPainter::paintStrokes() {
  if (strip.strokes.empty())
    return;
  double minX = 0, maxX = 0, minY = 0, maxY = 0;
  for (const Strip::Stroke &at : strip.strokes) {
    minX = std::min(minX, at.x);
    maxX = std::max(maxX, at.x);
    minY = std::min(minY, at.y);
    maxY = std::max(maxY, at.y);
  }
  double span = std::max(maxX - minX, 1e-9);
  double factor = std::min(width / span, 160 / std::max(maxY - minY, 1e-9));
  std::vector<std::pair<double, double>> points;
  for (const Strip::Stroke &at : strip.strokes) {
    points.push_back(
        {left + (at.x - minX) * factor, y + 4 + (at.y - minY) * factor});
    if (!at.isLast)
      continue;
    canvas.curve(points, "#222222", "");
    points.clear();
  }
  if (!points.empty())
    canvas.curve(points, "#222222", "");
  y += (maxY - minY) * factor + 14;
}

void StripPainter::paintRow(int64_t row) {
  int64_t count = strip.columns.size;
  const double *values = &strip.values[row * count];
  double bottom = y + rowHeight - 3, each = width / double(count);
  double span = std::max(scale.most, -scale.least), height = rowHeight - 6;
  std::string full = strip.rows.label(row);
  TextStyle style;
  style.anchor = Anchor::End;
  canvas.text(left - 6, bottom - 5, shortened(visible(full), longestLabel),
              style, visible(full));
  int64_t best = 0;
  bool areFew = count <= 60;
  std::vector<std::pair<double, double>> outline;
  for (int64_t i = 0; i < count; ++i) {
    double value = std::isfinite(values[i]) ? values[i] : 0;
    if (value > values[best])
      best = i;
    double tall = span > 0 ? height * std::max(0.0, value) / span : 0;
    double x = left + double(i) * each;
    std::string tip = fmt::format(
        "{}, {}: {}", visible(full),
        strip.seconds > 0
            ? fmt::format("{:.2f} s", (double(i) + 0.5) * strip.seconds)
            : visible(strip.columns.label(i)),
        textOf(values[i]));
    if (areFew)
      canvas.rectangle(x + 1, bottom - tall, std::max(1.0, each - 2), tall,
                       colorOf(0.75).hex, "none", tip);
    outline.push_back({x, bottom - tall});
    outline.push_back({x + each, bottom - tall});
  }
  if (!areFew) {
    canvas.area(outline, bottom, colorOf(0.75).hex);
    canvas.values(left, y, width, rowHeight, 1, count, {values, values + count},
                  full);
  }
  canvas.line(left, bottom, left + width, bottom, "#999999", 0.5);
  style.anchor = Anchor::Start;
  style.size = 10;
  if (count > 0)
    canvas.text(left + width + 6, bottom - 5,
                strip.seconds > 0
                    ? fmt::format("{:.2f} at {:.2f} s", values[best],
                                  (double(best) + 0.5) * strip.seconds)
                    : fmt::format("{:.2f} at {}", values[best],
                                  strip.columns.label(best)),
                style);
  y += rowHeight;
}

void StripPainter::paintAxis() {
  TextStyle style;
  style.size = 10;
  style.anchor = Anchor::Middle;
  auto mark = [&](double x, const std::string &text) {
    canvas.line(x, y, x, y + 4, "#444444");
    canvas.text(x, y + 15, text, style);
  };
  if (strip.seconds > 0) {
    double whole = strip.seconds * double(strip.columns.size);
    double tick = tickOf(whole);
    for (double at = 0; at <= whole + tick / 1000; at += tick)
      mark(left + width * at / whole, fmt::format("{:.4g} s", at));
  } else {
    int64_t count = strip.columns.size;
    int64_t stride =
        std::max<int64_t>(1, int64_t(std::ceil(22.0 * double(count) / width)));
    for (int64_t i = 0; i < count; i += stride)
      mark(left + (double(i) + 0.5) * width / double(count),
           shortened(visible(strip.columns.label(i)), 12));
  }
  canvas.line(left, y, left + width, y, "#444444");
  y += 22;
}

Canvas StripPainter::paint() {
  canvas.title(strip.title);
  for (int64_t row = 0; row < strip.rows.size; ++row)
    left = std::max(
        left,
        widthOf(shortened(visible(strip.rows.label(row)), longestLabel), 12));
  left += 14;
  width = strip.above.size() > 1
              ? std::clamp(frame * double(strip.above.size()), 360.0, 1080.0)
              : 640;
  paintFrames();
  paintStrokes();
  if (!strip.values.empty()) {
    for (int64_t row = 0; row < strip.rows.size; ++row)
      paintRow(row);
    paintAxis();
  }
  canvas.width = left + width + 110;
  canvas.height = y + 6;
  return std::move(canvas);
}

Canvas fovea::pictures::drawStrip(const Strip &strip, const Scale &scale) {
  return StripPainter(strip, scale).paint();
}
