//===- Bars.cpp - a vector as bars ----------------------------------------===//

#include "pictures/Color.h"
#include "pictures/Page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea::pictures;

static constexpr size_t longestLabel = 48;
static constexpr double titleHeight = 26, row = 18, length = 220;

Canvas fovea::pictures::drawBars(const Bars &bars, const Scale &scale) {
  Canvas canvas;
  canvas.title(bars.title);
  double left = 0;
  for (int64_t place = 0; place < bars.rows.size; ++place)
    left = std::max(
        left,
        widthOf(shortened(visible(bars.rows.label(place)), longestLabel), 12));
  left += 14;
  // Bars begin at 0, which is not at the left where values lie below it.
  double span = scale.most - scale.least;
  double zero = left + length * -scale.least / span;
  for (int64_t place = 0; place < bars.rows.size; ++place) {
    double value = bars.values[place], y = titleHeight + place * row;
    std::string full = bars.rows.label(place);
    std::string text = shortened(visible(full), longestLabel);
    TextStyle style;
    style.anchor = Anchor::End;
    canvas.text(left - 6, y + 13, text, style, visible(full));
    double end = zero;
    if (std::isfinite(value)) {
      end = zero + length * value / span;
      canvas.rectangle(std::min(zero, end), y + 2, std::abs(end - zero),
                       row - 4, colorOf(value < 0 ? -0.7 : 0.7).hex, "none",
                       visible(full) + ": " + textOf(value));
    }
    TextStyle number;
    number.size = 10;
    canvas.text(std::max(end, zero) + 4, y + 13, textOf(value), number);
  }
  double bottom = titleHeight + bars.rows.size * row;
  if (bars.values.empty())
    canvas.text(4, titleHeight + 10, "no values", {});
  else
    canvas.line(zero, titleHeight, zero, bottom, "#444444");
  canvas.width = std::max(left + length + 64, 260.0);
  canvas.height = bottom + 14;
  return canvas;
}
