//===- Rng.h - random numbers counted, not carried ------------------------===//
//
// A small counter-based generator (splitmix64 of seed and counter): the same
// seed gives the same numbers on every machine and with every library.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_RNG_H
#define FOVEA_TEST_RANDOM_RNG_H

#include <cassert>
#include <cstdint>
#include <vector>

namespace fovea::random {

class Rng {
public:
  explicit Rng(uint64_t seed, uint64_t stream = 0)
      : key(mix(seed * 0x9e3779b97f4a7c15ULL + mix(stream + 1))) {}

  uint64_t next() { return mix(key + ++counter * 0x9e3779b97f4a7c15ULL); }

  /// 0 .. n-1.
  int64_t below(int64_t n) {
    assert(n > 0 && "an empty choice");
    return static_cast<int64_t>(next() % static_cast<uint64_t>(n));
  }
  /// low .. high, both included.
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }

  template <typename T> const T &pick(const std::vector<T> &from) {
    return from[below(static_cast<int64_t>(from.size()))];
  }
  template <typename T> void shuffle(std::vector<T> &items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[below(static_cast<int64_t>(i))]);
  }

private:
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

  uint64_t key;
  uint64_t counter = 0;
};

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_RNG_H
