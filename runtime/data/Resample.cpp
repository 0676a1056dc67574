//===- Resample.cpp - a sound at another rate -----------------------------===//

#include "runtime/data/Resample.h"
#include "runtime/Functions.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <numeric>

using namespace fovea::runtime;

/// The zeros of the sinc on each side, and the extremes of rates.
static constexpr int64_t numZeros = 32;
static constexpr int64_t leastRate = 1000, mostRate = 1'000'000;
/// No example has more samples, and no table of weights more numbers.
static constexpr int64_t mostSamples = int64_t(1) << 28;
static constexpr size_t mostWeights = size_t(1) << 20;

namespace {

/// The weights of a sample of the result, by its phase.
class Phases {
public:
  /// `to` over `from` is the ratio, in lowest terms.
  Phases(int64_t from, int64_t to)
      : from(from), to(to), cutoff(std::min(1.0, double(to) / double(from))),
        reach(int64_t(std::ceil(double(numZeros) / cutoff))), rows(to) {}

  /// The sample `n` of the result of `samples`.
  double at(const std::vector<double> &samples, int64_t n);

private:
  const std::vector<double> &weightsOf(int64_t phase);

  int64_t from, to;
  double cutoff;
  int64_t reach; // in samples, on each side
  std::vector<std::vector<double>> rows;
  size_t numWeights = 0;
};

} // namespace

/// The weights of the samples `1 - reach` .. `reach` after the place of
/// `phase`.
const std::vector<double> &Phases::weightsOf(int64_t phase) {
  if (numWeights > mostWeights) {
    rows.assign(to, {});
    numWeights = 0;
  }
  std::vector<double> &row = rows[phase];
  if (!row.empty())
    return row;
  double sum = 0;
  for (int64_t k = 1 - reach; k <= reach; ++k) {
    // The distance in zeros of the sinc: exact before its product.
    double z = double(k * to - phase) / double(to) * cutoff;
    double weight = 0;
    if (std::fabs(z) < double(numZeros)) {
      double window = cosOfTurns(z / double(4 * numZeros));
      double sinc = z == 0 ? 1 : sinOfTurns(z / 2) / (std::numbers::pi * z);
      weight = sinc * window * window;
    }
    row.push_back(weight);
    sum += weight;
  }
  for (double &weight : row)
    weight /= sum;
  numWeights += row.size();
  return row;
}

double Phases::at(const std::vector<double> &samples, int64_t n) {
  int64_t place = n * from / to;
  const std::vector<double> &weights = weightsOf(n * from % to);
  auto count = static_cast<int64_t>(samples.size());
  int64_t first = place + 1 - reach;
  double sum = 0;
  for (int64_t k = std::max<int64_t>(0, first);
       k < std::min(count, place + reach + 1); ++k)
    sum += samples[k] * weights[k - first];
  return sum;
}

Status fovea::runtime::resample(const std::string &path, int64_t rate,
                                const SoundOptions &options,
                                std::vector<double> &samples) {
  if (rate == options.rate)
    return Status::success();
  if (!options.resample)
    return Status::error(fmt::format(
        "the sound '{}' has {} samples per second but 'from sound' expects {}; "
        "help: 'sound(rate = {}, resample = 1)' converts them",
        path, rate, options.rate, options.rate));
  if (rate < leastRate || rate > mostRate)
    return Status::error(
        fmt::format("cannot read the sound '{}': it has {} samples per second, "
                    "which is not from {} to {}",
                    path, rate, leastRate, mostRate));
  int64_t shared = std::gcd(rate, options.rate);
  int64_t from = rate / shared, to = options.rate / shared;
  auto count = static_cast<int64_t>(samples.size());
  int64_t size = (count * to + from - 1) / from;
  if (size > mostSamples)
    return Status::error(fmt::format(
        "cannot read the sound '{}': it has {} samples at {} per second", path,
        size, options.rate));
  Phases phases(from, to);
  std::vector<double> result(size);
  for (int64_t n = 0; n < size; ++n)
    result[n] = phases.at(samples, n);
  samples = std::move(result);
  return Status::success();
}
