//===- Significance.cpp - whether two systems differ by chance ------------===//

#include "metrics/Significance.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

using namespace fovea::metrics;

namespace {

/// The random numbers of numpy's `default_rng(seed)`: PCG64 (O'Neill, 2014)
/// with a seed that SeedSequence spreads.
class NumpyRandom {
public:
  explicit NumpyRandom(uint32_t seed) {
    std::array<uint64_t, 4> words = spread(seed);
    Wide start = Wide(words[0]) << 64 | words[1];
    increment = (Wide(words[2]) << 64 | words[3]) << 1 | 1;
    step();
    state += start;
    step();
  }

  /// Returns 0 .. limit - 1 (Lemire, 2019).
  uint32_t below(uint32_t limit) {
    uint64_t product = uint64_t(next32()) * limit;
    uint32_t least = -limit % limit;
    while (uint32_t(product) < least)
      product = uint64_t(next32()) * limit;
    return uint32_t(product >> 32);
  }

  bool coin() {
    if (numCoins == 0) {
      coins = next32();
      numCoins = 32;
    }
    bool isSet = (coins & 1) != 0;
    coins >>= 1;
    --numCoins;
    return isSet;
  }

private:
  __extension__ using Wide = unsigned __int128;

  static std::array<uint64_t, 4> spread(uint32_t seed);
  void step() {
    constexpr Wide factor = Wide(0x2360ed051fc65da4) << 64 | 0x4385df649fccf645;
    state = state * factor + increment;
  }
  uint64_t next64() {
    step();
    auto folded = uint64_t(state >> 64) ^ uint64_t(state);
    auto turn = unsigned(state >> 122);
    return folded >> turn | folded << (-turn & 63);
  }
  uint32_t next32() {
    if (hasHalf) {
      hasHalf = false;
      return half;
    }
    uint64_t both = next64();
    hasHalf = true;
    half = uint32_t(both >> 32);
    return uint32_t(both);
  }

  Wide state = 0, increment = 0;
  uint32_t half = 0, coins = 0;
  int numCoins = 0;
  bool hasHalf = false;
};

/// A metric's statistics, line by line.
struct Lines {
  explicit Lines(const Metric &metric) : metric(metric) {
    for (size_t line = 0; line < metric.size(); ++line)
      rows.push_back(metric.statistics(line));
  }

  size_t width() const { return rows.front().size(); }
  void addTo(Statistics &sum, size_t line) const {
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += rows[line][i];
  }

  const Metric &metric;
  std::vector<Statistics> rows;
};

} // namespace

std::array<uint64_t, 4> NumpyRandom::spread(uint32_t seed) {
  uint32_t constant = 0x43b0d7e5;
  auto hash = [&](uint32_t value, uint32_t factor) {
    value ^= constant;
    constant *= factor;
    value *= constant;
    return value ^ value >> 16;
  };
  std::array<uint32_t, 4> pool = {};
  for (size_t i = 0; i < pool.size(); ++i)
    pool[i] = hash(i == 0 ? seed : 0, 0x931e8875);
  for (size_t from = 0; from < pool.size(); ++from)
    for (size_t to = 0; to < pool.size(); ++to)
      if (from != to) {
        uint32_t mixed =
            0xca01f9dd * pool[to] - 0x4973f715 * hash(pool[from], 0x931e8875);
        pool[to] = mixed ^ mixed >> 16;
      }
  constant = 0x8b51f9dd;
  std::array<uint64_t, 4> words = {};
  for (size_t i = 0; i < 2 * words.size(); ++i)
    words[i / 2] |= uint64_t(hash(pool[i % pool.size()], 0x58f38ded))
                    << (i % 2 == 0 ? 0 : 32);
  return words;
}

/// Draws corpora of all systems, the same lines for each. Returns their values
/// by system.
static std::vector<std::vector<double>>
drawBootstrap(const std::vector<Lines> &systems) {
  NumpyRandom random(significanceSeed);
  size_t numLines = systems.front().rows.size();
  std::vector<std::vector<double>> values(systems.size());
  std::vector<uint32_t> drawn(numLines);
  for (int draw = 0; draw < bootstrapDraws; ++draw) {
    // numpy draws nothing where there is nothing to choose.
    for (uint32_t &line : drawn)
      line = numLines == 1 ? 0 : random.below(uint32_t(numLines));
    for (size_t number = 0; number < systems.size(); ++number) {
      Statistics sum(systems[number].width());
      for (uint32_t line : drawn)
        systems[number].addTo(sum, line);
      values[number].push_back(systems[number].metric.valueOf(sum));
    }
  }
  return values;
}

/// Returns the differences of two systems that swap lines.
static std::vector<double> drawSwapped(const Lines &first,
                                       const Lines &second) {
  NumpyRandom random(significanceSeed);
  std::vector<double> differences;
  for (int draw = 0; draw < randomisationDraws; ++draw) {
    Statistics one(first.width()), other(first.width());
    for (size_t line = 0; line < first.rows.size(); ++line) {
      bool isKept = random.coin();
      first.addTo(isKept ? one : other, line);
      second.addTo(isKept ? other : one, line);
    }
    differences.push_back(
        std::fabs(first.metric.valueOf(one) - first.metric.valueOf(other)));
  }
  return differences;
}

/// The share of draws above what was observed; never 0 (Phipson and Smyth,
/// 2010).
static double shareAbove(const std::vector<double> &draws, double observed) {
  auto above = std::count_if(draws.begin(), draws.end(),
                             [&](double draw) { return draw > observed; });
  return double(above + 1) / double(draws.size() + 1);
}

static double meanOf(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         double(values.size());
}

std::vector<SystemResult>
fovea::metrics::comparePaired(const std::vector<const Metric *> &systems) {
  std::vector<Lines> lines;
  for (const Metric *system : systems) {
    assert(system->size() == systems.front()->size() && system->size() > 0);
    lines.emplace_back(*system);
  }
  std::vector<std::vector<double>> drawn = drawBootstrap(lines);
  std::vector<SystemResult> results;
  for (size_t number = 0; number < systems.size(); ++number) {
    SystemResult &result = results.emplace_back();
    result.value = systems[number]->value();
    result.mean = meanOf(drawn[number]);
    std::vector<double> sorted = drawn[number];
    std::sort(sorted.begin(), sorted.end());
    size_t tail = sorted.size() / 40;
    result.interval = (sorted[sorted.size() - 1 - tail] - sorted[tail]) / 2;
    if (number == 0)
      continue;
    double observed = std::fabs(result.value - results.front().value);
    std::vector<double> differences;
    for (size_t draw = 0; draw < sorted.size(); ++draw)
      differences.push_back(std::fabs(drawn[number][draw] - drawn[0][draw]));
    double mean = meanOf(differences);
    for (double &difference : differences)
      difference -= mean;
    result.bootstrap = shareAbove(differences, observed);
    result.randomisation =
        shareAbove(drawSwapped(lines.front(), lines[number]), observed);
  }
  return results;
}
