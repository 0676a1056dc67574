//===- Underlays.cpp - what lies under an equation in a picture -----------===//

#include "app/show/Underlays.h"
#include "app/show/Pictures.h"
#include "compiler/Contents.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::ArrayRef;
using llvm::StringRef;

static bool isNumber(StringRef extent) {
  return extent.find_first_not_of("0123456789") == StringRef::npos;
}

static int64_t numberOf(StringRef extent) {
  int64_t value = 0;
  return extent.getAsInteger(10, value) ? 0 : value;
}

Underlays::Underlays(const Model &model)
    : data(model.data),
      parents(compiler::parentsOfLengths(model.module.get())) {}

std::string Underlays::originOf(const std::string &extent) const {
  std::string origin = extent;
  for (auto it = parents.find(origin); it != parents.end();
       it = parents.find(origin))
    origin = it->second;
  return origin;
}

namespace {

/// The axes of a picture that are its rows, columns and channels.
struct PictureAxes {
  size_t rows = 0, columns = 1;
  std::optional<size_t> channels;

  explicit PictureAxes(ArrayRef<std::string> extents) {
    if (extents.size() != 3)
      return;
    bool areLast = isNumber(extents[2]) && numberOf(extents[2]) <= 4;
    channels = areLast ? 2 : 0;
    rows = areLast ? 0 : 1;
    columns = rows + 1;
  }
};

} // namespace

/// Returns whether the last axes of `extents` are the places of a picture, or
/// of its patches.
bool Underlays::liesOver(const DataInfo &picture, ArrayRef<std::string> extents,
                         Underlay &result) const {
  PictureAxes axes(picture.extents);
  const std::string &rows = picture.extents[axes.rows];
  const std::string &columns = picture.extents[axes.columns];
  if (extents.size() >= 2) {
    const std::string &high = extents[extents.size() - 2];
    const std::string &wide = extents.back();
    if (high == rows && wide == columns)
      return true;
    if (!isNumber(rows) && !isNumber(columns))
      return originOf(high) == rows && originOf(wide) == columns;
    if (isNumber(high) && isNumber(wide) && numberOf(high) > 1 &&
        numberOf(wide) > 1 && numberOf(rows) % numberOf(high) == 0 &&
        numberOf(rows) * numberOf(wide) == numberOf(columns) * numberOf(high))
      return true;
  }
  // Squares in one axis, row by row.
  if (!isNumber(rows) || !isNumber(columns) || !isNumber(extents.back()))
    return false;
  for (int64_t size = 1; size <= numberOf(rows) / 2; ++size)
    if (numberOf(rows) % size == 0 && numberOf(columns) % size == 0 &&
        numberOf(rows) / size * (numberOf(columns) / size) ==
            numberOf(extents.back())) {
      result.rows = numberOf(rows) / size;
      result.columns = numberOf(columns) / size;
      return true;
    }
  return false;
}

Underlay Underlays::under(const runtime::ShownEquation &equation) const {
  Underlay result;
  ArrayRef<std::string> extents = equation.extents;
  if (extents.empty())
    return result;
  auto found = [&](Underlay::Kind kind, const DataInfo &one) {
    result.kind = kind;
    result.data = one;
  };
  for (const DataInfo &one : data) {
    if (one.loader.kind == "pixels" && one.extents.size() <= 3) {
      if (liesOver(one, extents, result))
        found(one.isChosen ? Underlay::Pixels : Underlay::Photo, one);
    } else if (one.loader.kind == "pixels" || one.loader.kind == "sound") {
      if (!isNumber(one.extents[0]) &&
          originOf(extents.back()) == one.extents[0])
        found(one.loader.kind == "sound" ? Underlay::Sound : Underlay::Frames,
              one);
    }
    // Pairs, with a bit beside each of them: a pen.
    bool isPen = one.isChosen && one.kind == DataInfo::Real &&
                 one.numIndices == 1 && one.extents.size() == 2 &&
                 one.sizes[1] == 2;
    for (const DataInfo &bit : data)
      if (isPen && bit.isChosen && bit.kind == DataInfo::Bit &&
          bit.extents.size() == 1 && bit.extents[0] == one.extents[0] &&
          (equation.name == one.name ||
           (extents.size() == 2 && extents[0] == one.extents[0]))) {
        found(Underlay::Strokes, one);
        result.lift = bit;
      }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// What is drawn
//===----------------------------------------------------------------------===//

/// A numeric argument of the loader, per channel.
static double argumentOf(const DataInfo &data, const std::string &name,
                         int64_t channel, double otherwise) {
  auto found = data.loader.numbers.find(name);
  if (found == data.loader.numbers.end())
    return otherwise;
  return found->second[found->second.size() > 1 ? channel : 0];
}

/// Restores a picture before normalisation; `first`: where its values
/// begin.
static pictures::Pixels pixelsOf(const DataInfo &data, int64_t rows,
                                 int64_t columns, int64_t channels,
                                 bool areFirst, ArrayRef<double> values) {
  pictures::Pixels pixels{rows, columns, channels < 3 ? 1 : 3, {}};
  for (int64_t place = 0; place < rows * columns; ++place)
    for (int64_t channel = 0; channel < pixels.channels; ++channel) {
      double value = values[areFirst ? channel * rows * columns + place
                                     : place * channels + channel];
      pixels.values.push_back(value *
                                  argumentOf(data, "deviation", channel, 1) +
                              argumentOf(data, "mean", channel, 0));
    }
  return pixels;
}

static pictures::Pixels pictureOf(const DataInfo &data,
                                  const runtime::DataValues &values) {
  PictureAxes axes(data.extents);
  int64_t channels = axes.channels ? values.shape[*axes.channels] : 1;
  return pixelsOf(data, values.shape[axes.rows], values.shape[axes.columns],
                  channels, axes.rows == 1, values.values);
}

static std::vector<pictures::Pixels>
framesOf(const DataInfo &data, const runtime::DataValues &values) {
  std::vector<pictures::Pixels> frames;
  int64_t rows = values.shape[1], columns = values.shape[2];
  int64_t size = rows * columns * values.shape[3];
  for (int64_t frame = 0; frame < values.shape[0]; ++frame)
    frames.push_back(
        pixelsOf(data, rows, columns, values.shape[3], /*areFirst=*/false,
                 ArrayRef<double>(values.values).slice(frame * size, size)));
  return frames;
}

/// Draws the filter banks of a sound, high ones above; loud is dark.
static pictures::Pixels spectrogramOf(const DataInfo &data,
                                      const runtime::DataValues &values) {
  auto filters = int64_t(data.loader.number("filters"));
  int64_t count = values.shape[0], width = values.shape[1];
  double least = INFINITY, most = -INFINITY;
  for (int64_t t = 0; t < count; ++t)
    for (int64_t f = 0; f < filters; ++f) {
      least = std::min(least, values.values[t * width + f]);
      most = std::max(most, values.values[t * width + f]);
    }
  pictures::Pixels pixels{filters, count, 1, {}};
  for (int64_t f = filters; f-- > 0;)
    for (int64_t t = 0; t < count; ++t) {
      double value = values.values[t * width + f];
      pixels.values.push_back(most > least ? (most - value) / (most - least)
                                           : 1);
    }
  return pixels;
}

/// Reconstructs the pen's path from its movements.
static std::vector<pictures::Strip::Stroke>
strokesOf(const runtime::DataValues &moves, const runtime::DataValues &lifts) {
  std::vector<pictures::Strip::Stroke> strokes;
  double x = 0, y = 0;
  for (size_t i = 0; 2 * i + 1 < moves.values.size(); ++i) {
    x += moves.values[2 * i];
    y += moves.values[2 * i + 1];
    strokes.push_back({x, y, i < lifts.values.size() && lifts.values[i] != 0});
  }
  return strokes;
}

/// The place of part `number` in the first `rank` axes, and its name.
static std::string placeText(const Drawn &drawn, size_t rank, size_t number) {
  std::vector<std::string> places;
  for (size_t axis = rank; axis-- > 0;) {
    int64_t size = drawn.values.shape[axis];
    int64_t place = int64_t(number) % size;
    number /= size;
    places.insert(places.begin(),
                  fittedAxis(drawn.axes, axis, size).label(place));
  }
  return fmt::format("{}", fmt::join(places, ", "));
}

/// Returns whether all parts of so many values could be weights.
static bool areWeights(ArrayRef<double> values, size_t size) {
  for (; !values.empty(); values = values.drop_front(size)) {
    double sum = 0;
    for (double value : values.take_front(size)) {
      if (!(value >= 0))
        return false;
      sum += value;
    }
    if (!(sum <= 1.001))
      return false;
  }
  return true;
}

static bool addPhoto(pictures::Page &page, const Underlay &underlay,
                     const Drawn &drawn) {
  pictures::Photo photo;
  photo.title = drawn.title;
  photo.group = drawn.group;
  size_t rank = drawn.values.shape.size();
  bool isOne = underlay.rows > 0; // axis
  size_t leading = rank - (isOne ? 1 : 2);
  photo.rows = isOne ? underlay.rows : drawn.values.shape[rank - 2];
  photo.columns = isOne ? underlay.columns : drawn.values.shape[rank - 1];
  size_t size = photo.rows * photo.columns;
  if (size == 0 || drawn.values.values.empty() ||
      (isOne && !areWeights(drawn.values.values, size)))
    return false;
  photo.areLogits = underlay.kind == Underlay::Pixels &&
                    underlay.data.kind == DataInfo::Bit &&
                    llvm::any_of(drawn.values.values, [](double value) {
                      return value < 0 || value > 1;
                    });
  if (underlay.kind == Underlay::Photo)
    photo.under = pictureOf(underlay.data, drawn.under);
  for (size_t number = 0; number < drawn.values.values.size() / size;
       ++number) {
    auto first = drawn.values.values.begin() + number * size;
    photo.tiles.push_back(
        {placeText(drawn, leading, number), {first, first + size}});
  }
  page.panels.push_back(std::move(photo));
  return true;
}

static bool addStrip(pictures::Page &page, const Underlay &underlay,
                     const Drawn &drawn) {
  size_t rank = drawn.values.shape.size();
  bool isAlone =
      underlay.kind == Underlay::Strokes && drawn.group == underlay.data.name;
  pictures::Strip strip;
  strip.group = drawn.group;
  if (underlay.kind == Underlay::Strokes)
    strip.strokes = strokesOf(drawn.under, drawn.lifts);
  else if (underlay.kind == Underlay::Frames)
    strip.above = framesOf(underlay.data, drawn.under);
  else
    strip.above = {spectrogramOf(underlay.data, drawn.under)};
  if (isAlone) {
    strip.title = drawn.title;
    page.panels.push_back(std::move(strip));
    return true;
  }
  int64_t columns = drawn.values.shape[rank - 1];
  int64_t rows = rank < 2 ? 1 : drawn.values.shape[rank - 2];
  if (rows * columns == 0)
    return false;
  strip.columns = fittedAxis(drawn.axes, rank - 1, columns);
  strip.rows = rank < 2 ? pictures::Axis{"", {""}, 1}
                        : fittedAxis(drawn.axes, rank - 2, rows);
  if (underlay.kind == Underlay::Sound)
    strip.seconds = underlay.data.loader.number("shift") *
                    double(drawn.under.shape[0]) / double(columns);
  size_t size = rows * columns, leading = rank < 2 ? 0 : rank - 2;
  for (size_t number = 0; number < drawn.values.values.size() / size;
       ++number) {
    pictures::Strip one = strip;
    one.title = drawn.title;
    if (leading > 0)
      one.title += fmt::format("[{}]", placeText(drawn, leading, number));
    auto first = drawn.values.values.begin() + number * size;
    one.values.assign(first, first + size);
    if (underlay.kind == Underlay::Strokes) {
      // The pen moves to the right, and so does time.
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
          one.values[column * rows + row] = first[row * columns + column];
      std::swap(one.rows, one.columns);
    }
    page.panels.push_back(std::move(one));
  }
  return true;
}

bool fovea::cli::addOver(pictures::Page &page, const Underlay &underlay,
                         const Drawn &drawn) {
  if (underlay.kind == Underlay::None)
    return false;
  if (underlay.kind != Underlay::Pixels && drawn.under.values.empty())
    return false;
  return underlay.kind == Underlay::Photo || underlay.kind == Underlay::Pixels
             ? addPhoto(page, underlay, drawn)
             : addStrip(page, underlay, drawn);
}
