//===- Raster.cpp - pixels as an image inside of SVG ----------------------===//

#include "pictures/Raster.h"
#include "llvm/Support/Base64.h" // a header alone

#include <algorithm>
#include <cmath>
#include <png.h>

using namespace fovea::pictures;

static char byteOf(double value) {
  return std::isfinite(value)
             ? static_cast<char>(std::lround(std::clamp(value, 0.0, 1.0) * 255))
             : 0;
}

std::string fovea::pictures::uriOf(const Pixels &pixels) {
  bool isGrey = pixels.channels < 3;
  std::string bytes;
  for (int64_t place = 0; place < pixels.rows * pixels.columns; ++place)
    for (int64_t channel = 0; channel < (isGrey ? 1 : 3); ++channel)
      bytes += byteOf(pixels.values[place * pixels.channels + channel]);
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(pixels.columns);
  image.height = static_cast<png_uint_32>(pixels.rows);
  image.format = isGrey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::string png(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = png.size();
  if (!png_image_write_to_memory(&image, png.data(), &size, 0, bytes.data(), 0,
                                 nullptr))
    size = 0; // an image without pixels
  png.resize(size);
  return "data:image/png;base64," + llvm::encodeBase64(png);
}

Pixels fovea::pictures::resized(const Pixels &pixels, int64_t rows,
                                int64_t columns) {
  Pixels result{rows, columns, pixels.channels, {}};
  result.values.resize(rows * columns * pixels.channels);
  // From which places a new one comes: at least one.
  auto range = [](int64_t place, int64_t count, int64_t old) {
    int64_t first = place * old / count;
    return std::pair(first, std::max(first + 1, (place + 1) * old / count));
  };
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      auto [top, bottom] = range(row, rows, pixels.rows);
      auto [left, right] = range(column, columns, pixels.columns);
      double count = static_cast<double>((bottom - top) * (right - left));
      for (int64_t channel = 0; channel < pixels.channels; ++channel) {
        double sum = 0;
        for (int64_t y = top; y < bottom; ++y)
          for (int64_t x = left; x < right; ++x)
            sum += pixels.values[(y * pixels.columns + x) * pixels.channels +
                                 channel];
        result.values[(row * columns + column) * pixels.channels + channel] =
            sum / count;
      }
    }
  return result;
}

/// A line of values at `count` places between them, smoothed.
static std::vector<double> smoothedLine(const std::vector<double> &line,
                                        int64_t count) {
  auto size = static_cast<int64_t>(line.size());
  std::vector<double> result(count);
  for (int64_t place = 0; place < count; ++place) {
    double middle = (place + 0.5) * double(size) / double(count) - 0.5;
    double sum = 0, whole = 0;
    for (int64_t i = 0; i < size; ++i) {
      double distance = (double(i) - middle) / 0.5;
      double weight = std::exp(-distance * distance / 2);
      sum += weight * line[i];
      whole += weight;
    }
    result[place] = whole > 0 ? sum / whole : 0;
  }
  return result;
}

std::vector<double> fovea::pictures::smoothed(const std::vector<double> &values,
                                              int64_t rows, int64_t columns,
                                              int64_t newRows,
                                              int64_t newColumns) {
  std::vector<std::vector<double>> wide;
  for (int64_t row = 0; row < rows; ++row)
    wide.push_back(smoothedLine(
        {values.begin() + row * columns, values.begin() + (row + 1) * columns},
        newColumns));
  std::vector<double> result(newRows * newColumns);
  for (int64_t column = 0; column < newColumns; ++column) {
    std::vector<double> line;
    for (int64_t row = 0; row < rows; ++row)
      line.push_back(wide[row][column]);
    std::vector<double> high = smoothedLine(line, newRows);
    for (int64_t row = 0; row < newRows; ++row)
      result[row * newColumns + column] = high[row];
  }
  return result;
}
