//===- Photo.cpp - weights over a picture ---------------------------------===//
//
// The picture in grey, and the attention of a word in orange over it: the two
// differ in lightness where the picture is light or dark. A frame marks the
// place with the largest weight, if there is one, and the caption has its
// number.
//
//===----------------------------------------------------------------------===//

#include "pictures/Raster.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea::pictures;

static constexpr double titleHeight = 24, captionHeight = 18, gap = 10;
/// Of a tile, as it is seen.
static constexpr double side = 132;
static constexpr int tilesPerRow = 9;

/// The number of pixels of a picture: as many as it is seen with, or a whole
/// multiple of its own.
static Pixels fitted(const Pixels &pixels) {
  int64_t longest = std::max(pixels.rows, pixels.columns);
  auto most = static_cast<int64_t>(2 * side);
  if (longest > most)
    return resized(pixels, std::max<int64_t>(1, pixels.rows * most / longest),
                   std::max<int64_t>(1, pixels.columns * most / longest));
  int64_t times = std::max<int64_t>(1, int64_t(side) / longest);
  return resized(pixels, pixels.rows * times, pixels.columns * times);
}

/// How light a pixel is (ITU-R BT.601).
static double lightOf(const Pixels &pixels, int64_t place) {
  const double *at = &pixels.values[place * pixels.channels];
  return pixels.channels < 3 ? at[0]
                             : 0.299 * at[0] + 0.587 * at[1] + 0.114 * at[2];
}

/// `under` with weights over it.
static Pixels covered(const Pixels &under, const Photo &photo,
                      const Photo::Tile &tile, double most) {
  std::vector<double> over = smoothed(tile.values, photo.rows, photo.columns,
                                      under.rows, under.columns);
  double highest = 0;
  for (double value : over)
    highest = std::max(highest, value);
  Pixels result{under.rows, under.columns, 3, {}};
  static constexpr double orange[] = {0.835, 0.369, 0};
  for (int64_t place = 0; place < under.rows * under.columns; ++place) {
    double grey = 0.3 + 0.7 * std::clamp(lightOf(under, place), 0.0, 1.0);
    double share = most > 0 && highest > 0
                       ? 0.85 * std::clamp(over[place] / highest, 0.0, 1.0)
                       : 0;
    for (double color : orange)
      result.values.push_back((1 - share) * grey + share * color);
  }
  return result;
}

namespace {

/// Some places of a tile.
struct Part {
  int64_t top = 0, left = 0, rows = 0, columns = 0;
};

} // namespace

/// Where a step has written: the part of a tile that differs from the one
/// before, first from 0, by a tenth of the largest difference or more.
static Part changed(const Photo &photo, size_t tile) {
  double most = 0;
  auto difference = [&](int64_t place) {
    double before = tile == 0 ? 0 : photo.tiles[tile - 1].values[place];
    double change = std::abs(photo.tiles[tile].values[place] - before);
    return std::isfinite(change) ? change : 0;
  };
  int64_t count = photo.rows * photo.columns;
  for (int64_t place = 0; place < count; ++place)
    most = std::max(most, difference(place));
  int64_t top = photo.rows, bottom = 0, left = photo.columns, right = 0;
  for (int64_t place = 0; place < count; ++place) {
    if (most == 0 || difference(place) < most / 10)
      continue;
    int64_t row = place / photo.columns, column = place % photo.columns;
    top = std::min(top, row);
    bottom = std::max(bottom, row + 1);
    left = std::min(left, column);
    right = std::max(right, column + 1);
  }
  return {top, left, std::max<int64_t>(0, bottom - top),
          std::max<int64_t>(0, right - left)};
}

/// A frame around a part of a tile at (x, y): a light line within a dark one
/// is seen on anything.
static void mark(Canvas &canvas, const Photo &photo, const Part &part, double x,
                 double y, double width, double height) {
  double cellWidth = width / double(photo.columns);
  double cellHeight = height / double(photo.rows);
  for (auto [color, inset] : {std::pair("#000000", 0.0), {"#ffffff", 1.0}}) {
    double left = x + double(part.left) * cellWidth + inset;
    double top = y + double(part.top) * cellHeight + inset;
    double right =
        left + std::max(2.0, double(part.columns) * cellWidth - 2 * inset);
    double bottom =
        top + std::max(2.0, double(part.rows) * cellHeight - 2 * inset);
    canvas.line(left, top, right, top, color);
    canvas.line(right, top, right, bottom, color);
    canvas.line(right, bottom, left, bottom, color);
    canvas.line(left, bottom, left, top, color);
  }
}

Canvas fovea::pictures::drawPhoto(const Photo &photo, const Scale &scale) {
  Canvas canvas;
  canvas.title(photo.title);
  bool hasUnder = photo.under.rows > 0;
  Pixels under = hasUnder ? fitted(photo.under) : Pixels();
  double rows = double(hasUnder ? photo.under.rows : photo.rows);
  double columns = double(hasUnder ? photo.under.columns : photo.columns);
  double width = side * columns / std::max(rows, columns);
  double height = side * rows / std::max(rows, columns);
  double step = std::max(width, 84.0) + gap;
  int number = 0;
  auto place = [&](const std::string &caption) {
    double x = 4 + step * (number % tilesPerRow);
    double y =
        titleHeight + (height + captionHeight + gap) * (number / tilesPerRow);
    ++number;
    TextStyle style;
    style.size = 11;
    canvas.text(x, y + 12, shortened(visible(caption), 20), style, caption);
    canvas.width = std::max(canvas.width, x + step);
    canvas.height = std::max(canvas.height, y + captionHeight + height + gap);
    return std::pair(x, y + captionHeight);
  };
  if (hasUnder) {
    auto [x, y] = place("given");
    canvas.image(x, y, width, height, uriOf(under));
    canvas.rectangle(x, y, width, height, "none", "#444444");
  }
  for (const Photo::Tile &tile : photo.tiles) {
    auto best = std::max_element(tile.values.begin(), tile.values.end());
    double most = best == tile.values.end() ? 0 : *best;
    if (!hasUnder) {
      // Larger is lighter, over all tiles alike.
      Pixels own{photo.rows, photo.columns, 1, {}};
      double span = scale.most - scale.least;
      for (double value : tile.values)
        own.values.push_back(photo.areLogits ? 1 / (1 + std::exp(-value))
                             : span > 0      ? (value - scale.least) / span
                                             : 0);
      auto [x, y] = place(tile.caption);
      canvas.image(x, y, width, height, uriOf(fitted(own)));
      canvas.rectangle(x, y, width, height, "none", "#444444");
      Part part = changed(photo, &tile - photo.tiles.data());
      bool isPart = part.rows < photo.rows || part.columns < photo.columns;
      if (photo.tiles.size() > 1 && part.rows > 0 && isPart)
        mark(canvas, photo, part, x, y, width, height);
      canvas.values(x, y, width, height, photo.rows, photo.columns, tile.values,
                    tile.caption);
      continue;
    }
    auto [x, y] = place(fmt::format("{} {:.2f}", tile.caption, most));
    canvas.image(x, y, width, height, uriOf(covered(under, photo, tile, most)));
    canvas.rectangle(x, y, width, height, "none", "#444444");
    // A part of the picture whose places weigh alike, a glimpse, has none.
    bool isAlone =
        std::count(tile.values.begin(), tile.values.end(), most) == 1;
    if (int64_t place = best - tile.values.begin(); most > 0 && isAlone)
      mark(canvas, photo, {place / photo.columns, place % photo.columns, 1, 1},
           x, y, width, height);
    canvas.values(x, y, width, height, photo.rows, photo.columns, tile.values,
                  tile.caption);
  }
  canvas.width = std::max(canvas.width, widthOf(photo.title, 12.5) + 16);
  return canvas;
}
