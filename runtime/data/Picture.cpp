//===- Picture.cpp - pictures as data -------------------------------------===//

#include "runtime/data/Picture.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea::runtime;

/// No picture for a model has more pixels.
static constexpr int64_t mostPixels = int64_t(1) << 28;

Status fovea::runtime::unreadablePicture(const std::string &path,
                                         const std::string &why) {
  return Status::error(
      fmt::format("cannot read the picture '{}': {}", path, why));
}

Status fovea::runtime::checkSize(const std::string &path, int64_t rows,
                                 int64_t columns, double most,
                                 const TakeSize &take) {
  if (rows < 1 || columns < 1 || rows > mostPixels / columns)
    return unreadablePicture(
        path, fmt::format("it has {} rows of {} pixels", rows, columns));
  if (double(rows) * double(columns) > most)
    return unreadablePicture(
        path,
        fmt::format(
            "it claims {} rows of {} pixels, more than its bytes can hold",
            rows, columns));
  return take(rows, columns);
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Converts a pixel's red, green, blue and opacity to other channels.
static void putPixel(const uint8_t (&from)[4], int64_t channels, uint8_t *to) {
  uint8_t color[3];
  for (int i = 0; i < 3; ++i)
    color[i] = channels == 4
                   ? from[i]
                   : (from[i] * from[3] + 255 * (255 - from[3]) + 127) / 255;
  if (channels == 1) {
    // ITU-R BT.601, rounded.
    to[0] = (299 * color[0] + 587 * color[1] + 114 * color[2] + 500) / 1000;
    return;
  }
  for (int i = 0; i < 3; ++i)
    to[i] = color[i];
  if (channels == 4)
    to[3] = from[3];
}

void Picture::convertTo(int64_t wanted) {
  if (channels == wanted)
    return;
  std::vector<uint8_t> result(rows * columns * wanted);
  const uint8_t *from = bytes.data();
  for (uint8_t *to = result.data(); to < result.data() + result.size();
       to += wanted, from += channels) {
    bool isGrey = channels == 1;
    uint8_t pixel[4] = {from[0], from[isGrey ? 0 : 1], from[isGrey ? 0 : 2],
                        channels == 4 ? from[3] : uint8_t(255)};
    putPixel(pixel, wanted, to);
  }
  bytes = std::move(result);
  channels = wanted;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TakeSize fovea::runtime::checkResizable(const std::string &path) {
  return [path](int64_t rows, int64_t columns) {
    constexpr int64_t mostOfAxis = 1 << 16, most = int64_t(1) << 26;
    bool isGood =
        std::max(rows, columns) <= mostOfAxis && rows * columns <= most;
    return isGood ? Status::success()
                  : unreadablePicture(
                        path, fmt::format("it has {} rows of {} pixels, too "
                                          "many to resize it",
                                          rows, columns));
  };
}

namespace {

/// The pixels of an axis that become one, and their weights.
struct Share {
  int64_t first = 0;
  std::vector<double> weights;
};

/// The shares of `to` pixels in `from`.
std::vector<Share> sharesOf(int64_t from, int64_t to) {
  std::vector<Share> shares(to);
  double step = double(from) / double(to), reach = std::max(1.0, step);
  for (int64_t j = 0; j < to; ++j) {
    double centre = (double(j) + 0.5) * double(from) / double(to);
    int64_t begin = std::max<int64_t>(0, int64_t(centre - reach - 1));
    double sum = 0;
    for (int64_t i = begin; i < from && double(i) < centre + reach; ++i) {
      double weight = 1 - std::fabs(double(i) + 0.5 - centre) / reach;
      if (weight <= 0)
        continue;
      if (shares[j].weights.empty())
        shares[j].first = i;
      shares[j].weights.push_back(weight);
      sum += weight;
    }
    for (double &weight : shares[j].weights)
      weight /= sum;
  }
  return shares;
}

} // namespace

void Picture::resizeTo(int64_t newRows, int64_t newColumns) {
  if (newRows == rows && newColumns == columns)
    return;
  std::vector<Share> ofRows = sharesOf(rows, newRows),
                     ofColumns = sharesOf(columns, newColumns);
  int64_t width = columns * channels;
  std::vector<uint8_t> result;
  result.reserve(newRows * newColumns * channels);
  for (const Share &above : ofRows) {
    std::vector<double> row(width, 0);
    for (size_t k = 0; k < above.weights.size(); ++k) {
      const uint8_t *from = &bytes[(above.first + int64_t(k)) * width];
      for (int64_t i = 0; i < width; ++i)
        row[i] += from[i] * above.weights[k];
    }
    for (const Share &beside : ofColumns)
      for (int64_t channel = 0; channel < channels; ++channel) {
        double sum = 0;
        for (size_t k = 0; k < beside.weights.size(); ++k)
          sum += row[(beside.first + int64_t(k)) * channels + channel] *
                 beside.weights[k];
        result.push_back(uint8_t(std::clamp(sum + 0.5, 0.0, 255.0)));
      }
  }
  bytes = std::move(result);
  rows = newRows;
  columns = newColumns;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

PixelAxes::PixelAxes(const DataSpec &spec) {
  auto numOf = [&](size_t axis) {
    const DataAxis &what = spec.axes[axis];
    bool isCount = what.length.empty() &&
                   (what.size == 1 || what.size == 3 || what.size == 4);
    return isCount ? what.size : 0;
  };
  if (spec.axes.size() == 2)
    channels = 1;
  isFilm = spec.axes.size() == 4;
  if (isFilm)
    channels = numOf(3);
  haveAxis = spec.axes.size() == 3;
  if (haveAxis) {
    channels = numOf(2);
    areFirst = channels == 0;
    if (areFirst)
      channels = numOf(0);
  }
  auto sizeOf = [&](size_t axis) {
    const DataAxis &what = spec.axes[axis + areFirst];
    return what.length.empty() ? what.size : 0;
  };
  if (channels == 0 || isFilm)
    return;
  rows = sizeOf(0);
  columns = sizeOf(1);
}

std::vector<int64_t> PixelAxes::shapeOf(int64_t rows, int64_t columns) const {
  std::vector<int64_t> shape = {rows, columns};
  if (haveAxis)
    shape.insert(areFirst ? shape.begin() : shape.end(), channels);
  return shape;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

PixelOptions
PixelOptions::from(const std::map<std::string, std::vector<double>> &arguments,
                   bool isBit) {
  PixelOptions options;
  options.isBit = isBit;
  if (auto found = arguments.find("mean"); found != arguments.end())
    options.mean = found->second;
  if (auto found = arguments.find("deviation"); found != arguments.end())
    options.deviation = found->second;
  if (auto found = arguments.find("resize"); found != arguments.end())
    options.resize = found->second.front() != 0;
  return options;
}

double PixelOptions::valueOf(int64_t channel, uint8_t byte) const {
  if (isBit)
    return byte >= 128;
  auto of = [&](const std::vector<double> &numbers) {
    return numbers[numbers.size() > 1 ? channel : 0];
  };
  return (byte / 255.0 - of(mean)) / of(deviation);
}

std::vector<double> PixelOptions::valuesOf(const Picture &picture,
                                           const PixelAxes &axes) const {
  int64_t size = picture.rows * picture.columns, channels = picture.channels;
  std::vector<double> values(size * channels);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t channel = 0; channel < channels; ++channel)
      values[axes.areFirst ? channel * size + i : i * channels + channel] =
          valueOf(channel, picture.bytes[i * channels + channel]);
  return values;
}
