//===- WeightNoise.h - normal noise on all weights --------------*- C++ -*-===//
//
// The noise of a weight depends on the seed, the update and the weight's place,
// not on threads or machines. The weights 4 k to 4 k + 3 take the four words of
// one block of Philox. Its counter is (k, update, seed >> 32), and its key
// (seed, purpose). Two words u and v give two normal numbers, r cos(a) and
// r sin(a) (Box and Muller). Here r is sqrt(-2 log((u + 1) / 2^32)), and a is
// v / 2^32 of a turn.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_WEIGHTNOISE_H
#define FOVEA_RUNTIME_TRAIN_WEIGHTNOISE_H

#include "runtime/ThreadPool.h"

#include <cstdint>

namespace fovea::runtime {

/// The normal numbers of one update.
struct WeightNoise {
  uint64_t seed = 0;
  int64_t update = 0;
  double deviation = 0;
};

/// noisy = weights plus noise, for the places from .. to-1.
template <typename T>
void addNoise(const WeightNoise &noise, T *noisy, const T *weights,
              int64_t from, int64_t to, FoveaPool *pool);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_WEIGHTNOISE_H
