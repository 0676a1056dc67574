//===- SoundFrames.cpp - filter banks from samples ------------------------===//
//
// All of it has the same bits on every machine: training on sounds, too.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/SoundFrames.h"
#include "runtime/Functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>

using namespace fovea::runtime;

SoundOptions SoundOptions::from(
    const std::map<std::string, std::vector<double>> &arguments) {
  auto number = [&](const char *name) { return arguments.at(name).front(); };
  SoundOptions options;
  options.rate = std::llround(number("rate"));
  options.filters = std::llround(number("filters"));
  options.deltas = std::llround(number("deltas"));
  options.window = number("window");
  options.shift = number("shift");
  options.normalise = number("normalise") != 0;
  options.resample = number("resample") != 0;
  return options;
}

namespace {

/// The Fourier transform of a power of two of points, in place (Cooley and
/// Tukey, 1965).
class Fourier {
public:
  explicit Fourier(int64_t points);
  void transform(std::vector<std::complex<double>> &values) const;

private:
  int64_t points;
  std::vector<std::complex<double>> roots; // of 1
};

/// Computes the frames of one sound after another.
class Frames {
public:
  Frames(const std::vector<double> &samples, const SoundOptions &options);
  std::vector<double> take();

private:
  void makeTriangles();
  void addBands(int64_t frame, double *bands);
  void addDeltas(int64_t begin);
  void normalise();

  const std::vector<double> &samples;
  const SoundOptions &options;
  int64_t window, shift, points, count = 1;
  int64_t width; // of a frame
  Fourier fourier;
  std::vector<double> shape; // of the window
  /// The weights of each band, from its first point with a weight.
  std::vector<std::pair<int64_t, std::vector<double>>> triangles;
  std::vector<std::complex<double>> spectrum;
  std::vector<double> values;
};

} // namespace

Fourier::Fourier(int64_t points) : points(points) {
  for (int64_t k = 0; k < points / 2; ++k) {
    double turns = double(k) / double(points);
    roots.emplace_back(cosOfTurns(turns), -sinOfTurns(turns));
  }
}

void Fourier::transform(std::vector<std::complex<double>> &values) const {
  // The place of each value has its bits in reverse.
  for (int64_t i = 1, j = 0; i < points; ++i) {
    int64_t bit = points / 2;
    for (; j & bit; bit /= 2)
      j ^= bit;
    j |= bit;
    if (i < j)
      std::swap(values[i], values[j]);
  }
  for (int64_t size = 2; size <= points; size *= 2)
    for (int64_t first = 0; first < points; first += size)
      for (int64_t k = 0; k < size / 2; ++k) {
        std::complex<double> &a = values[first + k],
                             &b = values[first + k + size / 2],
                             root = roots[k * (points / size)];
        // The operator of std::complex asks for infinities as well.
        std::complex<double> turned(
            b.real() * root.real() - b.imag() * root.imag(),
            b.real() * root.imag() + b.imag() * root.real());
        b = a - turned;
        a += turned;
      }
}

static double melOf(double frequency) {
  return 1127 * log1pOf(frequency / 700);
}

Frames::Frames(const std::vector<double> &samples, const SoundOptions &options)
    : samples(samples), options(options),
      window(std::max<int64_t>(2, std::llround(options.window * options.rate))),
      shift(std::max<int64_t>(1, std::llround(options.shift * options.rate))),
      points(int64_t(std::bit_ceil(uint64_t(window)))), width(options.width()),
      fourier(points) {
  if (auto size = static_cast<int64_t>(samples.size()); size > window)
    count = 1 + (size - window) / shift;
  for (int64_t k = 0; k < window; ++k)
    shape.push_back(0.54 - 0.46 * cosOfTurns(double(k) / double(window - 1)));
  makeTriangles();
}

void Frames::makeTriangles() {
  double step = melOf(double(options.rate) / 2) / double(options.filters + 1);
  for (int64_t band = 0; band < options.filters; ++band) {
    std::pair<int64_t, std::vector<double>> triangle = {0, {}};
    for (int64_t point = 0; point <= points / 2; ++point) {
      double mel =
          melOf(double(point) * double(options.rate) / double(points)) / step;
      double weight = 1 - std::fabs(mel - double(band + 1));
      if (weight <= 0)
        continue;
      if (triangle.second.empty())
        triangle.first = point;
      triangle.second.push_back(weight);
    }
    triangles.push_back(std::move(triangle));
  }
}

/// Computes the logs of the bands and of the energy of one frame.
void Frames::addBands(int64_t frame, double *bands) {
  constexpr double least = 1e-10;
  spectrum.assign(points, 0);
  double energy = 0;
  for (int64_t k = 0; k < window; ++k) {
    int64_t n = frame * shift + k;
    if (n >= static_cast<int64_t>(samples.size()))
      break;
    double before = n > 0 ? samples[n - 1] : 0;
    spectrum[k] = (samples[n] - 0.97 * before) * shape[k];
    energy += samples[n] * samples[n];
  }
  fourier.transform(spectrum);
  for (const auto &[first, weights] : triangles) {
    double sum = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      sum += weights[i] * std::norm(spectrum[first + int64_t(i)]);
    *bands++ = logOf(std::max(least, sum));
  }
  *bands = logOf(std::max(least, energy));
}

/// Computes the differences over time of the numbers before `begin`.
void Frames::addDeltas(int64_t begin) {
  int64_t size = options.filters + 1;
  auto at = [&](int64_t frame, int64_t number) {
    frame = std::clamp<int64_t>(frame, 0, count - 1);
    return values[frame * width + begin - size + number];
  };
  for (int64_t frame = 0; frame < count; ++frame)
    for (int64_t i = 0; i < size; ++i)
      values[frame * width + begin + i] =
          (at(frame + 1, i) - at(frame - 1, i) +
           2 * (at(frame + 2, i) - at(frame - 2, i))) /
          10;
}

void Frames::normalise() {
  for (int64_t i = 0; i < width; ++i) {
    double mean = 0, square = 0;
    for (int64_t frame = 0; frame < count; ++frame)
      mean += values[frame * width + i];
    mean /= double(count);
    for (int64_t frame = 0; frame < count; ++frame) {
      double &value = values[frame * width + i];
      value -= mean;
      square += value * value;
    }
    // A nearly constant value carries no information.
    double deviation = std::max(std::sqrt(square / double(count)), 1e-5);
    for (int64_t frame = 0; frame < count; ++frame)
      values[frame * width + i] /= deviation;
  }
}

std::vector<double> Frames::take() {
  values.assign(count * width, 0);
  for (int64_t frame = 0; frame < count; ++frame)
    addBands(frame, &values[frame * width]);
  for (int64_t delta = 1; delta <= options.deltas; ++delta)
    addDeltas(delta * (options.filters + 1));
  if (options.normalise)
    normalise();
  return std::move(values);
}

std::vector<double> fovea::runtime::framesOf(const std::vector<double> &samples,
                                             const SoundOptions &options) {
  return Frames(samples, options).take();
}
