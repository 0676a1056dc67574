//===- Resize.cpp - images of another size --------------------------------===//
//
// Along each axis an element of the result is a sum of a few neighbours, whose
// places and weights are known at compile time. So each axis is one equation,
// whatever the interpolation. Nearest places at whole multiples need no weights
// and no extents.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea::onnx;

namespace {

/// The largest number of weights along an axis, beyond four.
constexpr double mostNeighbours = 1 << 20;

/// What the attributes say.
struct Ways {
  std::string mode, coordinates, round, policy;
  bool smooths = false, excludesOutside = false;
  double cubic = -0.75, extrapolation = 0;
};

/// One axis: `extent` elements become `size`.
struct Axis {
  int64_t extent = 1, size = 1;
  double scale = 1;
  double roiBegin = 0, roiEnd = 1;
};

/// Element i of the result is the sum of weights[i][k] * x[places[i][k]], and
/// beyond[i].
struct Taps {
  std::vector<std::vector<double>> weights;
  std::vector<std::vector<int64_t>> places;
  std::vector<double> beyond;
};

class Resizing {
public:
  Resizing(Importer &importer, const Node &node)
      : importer(importer), node(node), x(node.at(0)) {}

  bool run();

private:
  bool refuse(const std::string &why) { return importer.refuse(node, why); }
  bool readWays();
  bool readAxes();
  bool readScales(const Value &scales);
  bool readSizes();
  bool isWhole() const;
  bool giveNearest();
  Taps tapsOf(const Axis &axis) const;
  std::vector<double> weightsOf(double ratio, double scale) const;
  std::string along(size_t axis, const Taps &taps, const Value &from,
                    const Indices &at);

  Importer &importer;
  const Node &node;
  Value x;
  Ways ways;
  std::vector<size_t> named;  // the axes that scales or sizes are of
  std::vector<double> scales; // of each axis
  Shape shape;
};

} // namespace

//===----------------------------------------------------------------------===//
// What the node says
//===----------------------------------------------------------------------===//

bool Resizing::readWays() {
  bool isOld = importer.opset() < 11;
  ways.mode = node.text("mode", "nearest");
  ways.coordinates = node.text("coordinate_transformation_mode",
                               isOld ? "asymmetric" : "half_pixel");
  ways.round =
      node.text("nearest_mode", isOld ? "floor" : "round_prefer_floor");
  ways.policy = node.text("keep_aspect_ratio_policy", "stretch");
  ways.smooths = node.integer("antialias", 0) != 0;
  ways.excludesOutside = node.integer("exclude_outside", 0) != 0;
  ways.cubic = node.real("cubic_coeff_a", -0.75);
  ways.extrapolation = node.real("extrapolation_value", 0);
  auto isOneOf = [](const std::string &word,
                    std::initializer_list<const char *> all) {
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  if (!isOneOf(ways.mode, {"nearest", "linear", "cubic"}))
    return refuse("the mode '" + ways.mode + "' is not supported");
  if (!isOneOf(ways.coordinates,
               {"asymmetric", "half_pixel", "pytorch_half_pixel",
                "align_corners", "half_pixel_symmetric", "tf_crop_and_resize"}))
    return refuse("the coordinates '" + ways.coordinates +
                  "' are not supported");
  if (!isOneOf(ways.round,
               {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}))
    return refuse("the rounding '" + ways.round + "' is not supported");
  return true;
}

bool Resizing::readAxes() {
  if (!node.attribute("axes")) {
    for (size_t axis = 0; axis < x.rank(); ++axis)
      named.push_back(axis);
    return true;
  }
  for (int64_t axis : node.integers("axes")) {
    std::optional<size_t> own = importer.axisOf(node, axis, x.rank());
    if (!own)
      return false;
    named.push_back(*own);
  }
  return true;
}

bool Resizing::readScales(const Value &given) {
  if (!given.known || given.known->reals.size() != named.size())
    return refuse("needs a known scale for each axis");
  for (size_t i = 0; i < named.size(); ++i) {
    size_t axis = named[i];
    double scale = given.known->reals[i];
    if (!(scale > 0 && scale <= 1 << 20))
      return refuse(fmt::format("has the scale {}", scale));
    scales[axis] = scale;
    if (scale == std::floor(scale))
      shape[axis] = x.shape[axis] * Size(static_cast<int64_t>(scale));
    else if (std::optional<int64_t> extent = x.shape[axis].value())
      shape[axis] = Size(static_cast<int64_t>(
          std::floor(static_cast<double>(*extent) * scale)));
    else
      return refuse(fmt::format("scales the length {} by {}, and only whole "
                                "multiples of lengths are supported",
                                x.shape[axis].text(), scale));
  }
  return true;
}

bool Resizing::readSizes() {
  const Contents *known = importer.knownInput(node, 3);
  if (!known)
    return false;
  if (known->whole.size() != named.size())
    return refuse("needs a size for each axis");
  bool keeps = ways.policy != "stretch";
  double same = ways.policy == "not_larger" ? INFINITY : 0;
  for (size_t i = 0; i < named.size(); ++i) {
    const Size &size = known->whole[i], &extent = x.shape[named[i]];
    if (size.value().value_or(1) < 1)
      return refuse(fmt::format("gives {} elements", size.text()));
    if (std::optional<Size> factor = size.dividedBy(extent);
        factor && factor->value() && !keeps) {
      scales[named[i]] = static_cast<double>(*factor->value());
    } else {
      if (!size.value() || !extent.value())
        return refuse(fmt::format("gives {} the size {}, and only whole "
                                  "multiples of lengths are supported",
                                  extent.text(), size.text()));
      scales[named[i]] = static_cast<double>(*size.value()) /
                         static_cast<double>(*extent.value());
    }
    same = ways.policy == "not_larger" ? std::min(same, scales[named[i]])
                                       : std::max(same, scales[named[i]]);
    shape[named[i]] = size;
  }
  for (size_t axis : named)
    if (keeps) {
      scales[axis] = same;
      shape[axis] = Size(static_cast<int64_t>(std::floor(
          static_cast<double>(*x.shape[axis].value()) * same + 0.5)));
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Nearest places of whole multiples
//===----------------------------------------------------------------------===//

/// Returns whether each extent is a whole multiple of the input's, and the
/// nearest place is the quotient. Then all rounding and coordinate modes agree,
/// except those of corners.
bool Resizing::isWhole() const {
  bool isPlain = ways.coordinates == "asymmetric" && ways.round == "floor";
  bool isCentred =
      (ways.coordinates == "half_pixel" ||
       ways.coordinates == "pytorch_half_pixel") &&
      (ways.round == "round_prefer_floor" || ways.round == "round_prefer_ceil");
  if (ways.mode != "nearest" || !(isPlain || isCentred))
    return false;
  for (size_t axis = 0; axis < x.rank(); ++axis)
    if (scales[axis] != std::floor(scales[axis]) ||
        !(shape[axis] ==
          x.shape[axis] * Size(static_cast<int64_t>(scales[axis]))))
      return false;
  return true;
}

bool Resizing::giveNearest() {
  return importer.give(node, 0, x.type, shape, [&](const Indices &at) {
    Indices places;
    for (size_t axis = 0; axis < x.rank(); ++axis)
      places.push_back(scales[axis] == 1
                           ? at[axis]
                           : fmt::format("{} // {}", at[axis],
                                         static_cast<int64_t>(scales[axis])));
    return importer.read(x, places);
  });
}

//===----------------------------------------------------------------------===//
// Sums of neighbours
//===----------------------------------------------------------------------===//

/// Neighbours from left to right. The middle two are at `ratio` and 1 - `ratio`
/// from the place; `ratio` is above 0.
std::vector<double> Resizing::weightsOf(double ratio, double scale) const {
  if (ways.mode == "nearest") {
    bool isRight = ratio == 1 || ways.round == "ceil" ||
                   (ways.round == "round_prefer_floor" && ratio > 0.5) ||
                   (ways.round == "round_prefer_ceil" && ratio >= 0.5);
    return {isRight ? 0.0 : 1.0, isRight ? 1.0 : 0.0};
  }
  // Downscaling smooths over the dropped places.
  double stretch = ways.smooths ? std::min(scale, 1.0) : 1;
  double reach = ways.mode == "linear" ? 1 : 2, a = ways.cubic;
  auto first = static_cast<int64_t>(std::floor(-reach / stretch) + 1);
  std::vector<double> weights;
  double sum = 0;
  for (int64_t k = first; k < 2 - first; ++k) {
    double d = std::fabs((static_cast<double>(k) - ratio) * stretch);
    double weight = 0;
    if (ways.mode == "linear")
      weight = std::max(0.0, 1 - d);
    else if (d <= 1)
      weight = (a + 2) * d * d * d - (a + 3) * d * d + 1;
    else if (d < 2)
      weight = a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
    weights.push_back(weight);
    sum += weight;
  }
  if (ways.smooths)
    for (double &weight : weights)
      weight /= sum;
  return weights;
}

Taps Resizing::tapsOf(const Axis &axis) const {
  Taps taps;
  auto extent = static_cast<double>(axis.extent);
  double width = axis.scale * extent;
  for (int64_t i = 0; i < axis.size; ++i) {
    auto place = static_cast<double>(i);
    double from = (place + 0.5) / axis.scale - 0.5;
    double beyond = 0;
    bool isOutside = false;
    if (ways.coordinates == "align_corners") {
      from = width == 1 ? 0 : place * (extent - 1) / (width - 1);
    } else if (ways.coordinates == "asymmetric") {
      from = place / axis.scale;
    } else if (ways.coordinates == "pytorch_half_pixel" && width == 1) {
      from = -0.5;
    } else if (ways.coordinates == "half_pixel_symmetric") {
      from += extent / 2 * (1 - static_cast<double>(axis.size) / width);
    } else if (ways.coordinates == "tf_crop_and_resize") {
      double span = (axis.roiEnd - axis.roiBegin) * (extent - 1);
      from = axis.roiBegin * (extent - 1) +
             (width == 1 ? span / 2 : place * span / (width - 1));
      isOutside = from < 0 || from > extent - 1;
      beyond = isOutside ? ways.extrapolation : 0;
    }
    // The left one of the two middle neighbours.
    from = std::clamp(from, -0x1p50, 0x1p50);
    auto left = static_cast<int64_t>(std::ceil(from)) - 1;
    std::vector<double> weights =
        weightsOf(from - static_cast<double>(left), axis.scale);
    auto half = static_cast<int64_t>(weights.size()) / 2;
    std::vector<int64_t> places;
    double sum = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
      int64_t at = left - half + 1 + static_cast<int64_t>(k);
      if ((ways.excludesOutside && (at < 0 || at >= axis.extent)) || isOutside)
        weights[k] = 0;
      sum += weights[k];
      places.push_back(std::clamp<int64_t>(at, 0, axis.extent - 1));
    }
    for (double &weight : weights)
      if (ways.excludesOutside && sum != 0)
        weight /= sum;
    taps.weights.push_back(std::move(weights));
    taps.places.push_back(std::move(places));
    taps.beyond.push_back(beyond);
  }
  return taps;
}

/// The element of an array that is resized along one axis.
std::string Resizing::along(size_t axis, const Taps &taps, const Value &from,
                            const Indices &at) {
  size_t count = taps.weights[0].size();
  auto table = [&](const Shape &shape, const char *name) {
    Value value;
    value.shape = shape;
    value.name = x.name + name;
    return value;
  };
  auto rows = static_cast<int64_t>(taps.weights.size());
  Shape both = {Size(rows), Size(static_cast<int64_t>(count))};
  Value weights = table(both, "_weights"), places = table(both, "_places"),
        beyond = table({Size(rows)}, "_beyond");
  Contents numbers, whole, outside;
  for (int64_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < count; ++k) {
      numbers.reals.push_back(taps.weights[i][k]);
      whole.whole.emplace_back(taps.places[i][k]);
    }
  outside.reals = taps.beyond;
  bool goesBeyond = std::any_of(taps.beyond.begin(), taps.beyond.end(),
                                [](double value) { return value != 0; });
  places.type = int64Type;
  weights.known = std::make_shared<Contents>(std::move(numbers));
  places.known = std::make_shared<Contents>(std::move(whole));
  beyond.known = std::make_shared<Contents>(std::move(outside));
  Indices own = at;
  own[axis] = importer.read(places, {at[axis], "k0"});
  // All places are inside, but the language cannot prove it.
  std::string term =
      fmt::format("{} * ({} ?? 0.0)", importer.read(weights, {at[axis], "k0"}),
                  importer.readAs(from, own, Kind::Real));
  // All may be the same.
  std::string sum = term.find("k0") == std::string::npos
                        ? fmt::format("{}.0 * {}", count, term)
                        : fmt::format("sum[k0 < {}]({})", count, term);
  return goesBeyond ? sum + " + " + importer.read(beyond, {at[axis]}) : sum;
}

bool Resizing::run() {
  shape = x.shape;
  scales.assign(x.rank(), 1);
  if (!readWays() || !readAxes())
    return false;
  bool isOld = importer.opset() < 11;
  const Value *given = node.input(isOld ? 1 : 2);
  Value attribute;
  if (isOld && !given) {
    // Upsample of version 7.
    attribute.known =
        std::make_shared<Contents>(Contents{{}, node.reals("scales")});
    given = &attribute;
  }
  bool hasScales = given && (isOld || !productOf(given->shape).is(0));
  if (hasScales && given != &attribute &&
      !importer.knownInput(node, isOld ? 1 : 2))
    return false;
  if (!(hasScales ? readScales(*given) : readSizes()))
    return false;
  if (isWhole())
    return giveNearest();
  std::vector<double> roi;
  if (ways.coordinates == "tf_crop_and_resize") {
    const Contents *known = importer.knownInput(node, 1);
    if (!known)
      return false;
    roi = known->reals;
    if (roi.size() != 2 * named.size())
      return refuse("needs a begin and an end of each axis in 'roi'");
    for (double part : roi)
      if (!std::isfinite(part))
        return refuse("needs finite numbers in 'roi'");
  }
  // One axis after the other; unchanged axes are skipped.
  std::vector<std::pair<size_t, Axis>> axes;
  for (size_t i = 0; i < named.size(); ++i) {
    size_t number = named[i];
    bool crops = !roi.empty() && (roi[i] != 0 || roi[named.size() + i] != 1);
    if (scales[number] == 1 && shape[number] == x.shape[number] && !crops)
      continue;
    std::optional<int64_t> extent = x.shape[number].value(),
                           size = shape[number].value();
    if (!extent || !size)
      return refuse(fmt::format("'{}' of the length {} needs to know it",
                                ways.mode, x.shape[number].text()));
    // Each of these is a sum of neighbours, more when downscaling.
    double stretch = ways.smooths ? std::min(scales[number], 1.0) : 1;
    if (static_cast<double>(*size) / stretch > mostNeighbours)
      return refuse(fmt::format("makes {} elements of {}, which is too many",
                                *size, *extent));
    Axis axis = {*extent, *size, scales[number]};
    if (!roi.empty()) {
      axis.roiBegin = roi[i];
      axis.roiEnd = roi[named.size() + i];
    }
    axes.emplace_back(number, axis);
  }
  Value from = x;
  Shape reached = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    auto [number, axis] = axes[i];
    Taps taps = tapsOf(axis);
    reached[number] = Size(axis.size);
    auto body = [&, number = number](const Indices &at) {
      return along(number, taps, from, at);
    };
    if (i + 1 == axes.size())
      return importer.give(node, 0, x.type, reached, body);
    Value next = importer.helper(node, x.type, reached, body);
    from = next;
  }
  importer.giveSame(node, 0, x);
  return true;
}

static bool importResize(Importer &importer, const Node &node) {
  return Resizing(importer, node).run();
}

void fovea::onnx::addResize(Handlers &handlers) {
  handlers["Resize"] = importResize;
  handlers["Upsample"] = importResize;
}
