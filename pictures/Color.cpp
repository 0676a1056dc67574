//===- Color.cpp - colours that stand for numbers -------------------------===//

#include "pictures/Color.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <numbers>

using namespace fovea::pictures;

/// A channel of linear light as sRGB writes it, 0 to 255.
static int channelOf(double linear) {
  double value = linear <= 0.0031308
                     ? 12.92 * linear
                     : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
}

/// OKLab as sRGB, by the matrices of its author.
static std::string hexOf(double lightness, double a, double b) {
  double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
  double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
  double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
  l = l * l * l;
  m = m * m * m;
  s = s * s * s;
  return fmt::format(
      "#{:02x}{:02x}{:02x}",
      channelOf(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
      channelOf(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
      channelOf(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

Color fovea::pictures::colorOf(double value) {
  double t = std::clamp(std::abs(value), 0.0, 1.0);
  double darkest = value < 0 ? 0.42 : 0.32;
  double hue = (value < 0 ? 55 : 258) * std::numbers::pi / 180;
  double lightness = 1 - (1 - darkest) * t;
  double chroma = (value < 0 ? 0.11 : 0.13) * std::min(1.0, 2 * t);
  return {lightness,
          hexOf(lightness, chroma * std::cos(hue), chroma * std::sin(hue))};
}

const char *fovea::pictures::curveColor(size_t number) {
  static constexpr const char *colors[] = {"#0072b2", "#d55e00", "#009e73",
                                           "#cc79a7", "#000000", "#e69f00",
                                           "#56b4e9"};
  return colors[number % std::size(colors)];
}
