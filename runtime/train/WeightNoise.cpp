//===- WeightNoise.cpp - normal noise on all weights ----------------------===//
//
// One loop in three forms, which the processor chooses from: vectors of 512,
// 256 and 128 bits. All have the same bits.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/WeightNoise.h"
#include "runtime/Cpu.h"
#include "runtime/DoublePairs.h"

#include <algorithm>
#include <cmath>

using namespace fovea::runtime;

/// The key of weight noise; no ordinal of a model is as large.
static constexpr uint32_t noisePurpose = 0xFFFF0003;

/// Blocks of four weights that are computed together.
static constexpr int64_t blocks = 256;

namespace {
/// The normal numbers of the weights 4 k + i, for consecutive k.
struct Normals {
  double of[4][blocks];
};
} // namespace

/// A word as a number.
FOVEA_IN_LOOPS static double numberOf(uint64_t word) {
  return std::bit_cast<double>(word | 0x4330000000000000) - 0x1p52;
}

/// Two normal numbers (Box and Muller).
FOVEA_IN_LOOPS static void normalsOf(uint64_t first, uint64_t second,
                                     double &one, double &other) {
  constexpr double unit = 1.0 / 4294967296.0;
  double log = logPair((numberOf(first) + 1.0) * unit, 0).high;
  double radius = std::sqrt(-2 * log);
  Turned turned = turnedBy(numberOf(second) * unit);
  double sine = sineNear0(turned.angle), cosine = cosineNear0(turned.angle);
  one = radius * chosenSine(sine, cosine, turned.quarters + 1);
  other = radius * chosenSine(sine, cosine, turned.quarters);
}

/// Philox (runtime/Philox.h), with words in 64 bits each.
FOVEA_IN_LOOPS static void drawNormals(const WeightNoise &noise, int64_t begin,
                                       Normals &normals) {
  const auto update = static_cast<uint32_t>(noise.update);
  const uint64_t seedHigh = noise.seed >> 32;
#pragma clang loop vectorize(enable) interleave(disable)
  for (int64_t j = 0; j < blocks; ++j) {
    auto block = static_cast<uint64_t>(begin + j);
    uint64_t words[4] = {block & 0xFFFFFFFF, block >> 32, update, seedHigh};
    auto key = static_cast<uint32_t>(noise.seed), other = noisePurpose;
#pragma clang loop unroll(full)
    for (int round = 0; round < 10; ++round) {
      uint64_t first = 0xD2511F53 * words[0], second = 0xCD9E8D57 * words[2];
      words[0] = second >> 32 ^ words[1] ^ key;
      words[1] = second & 0xFFFFFFFF;
      words[2] = first >> 32 ^ words[3] ^ other;
      words[3] = first & 0xFFFFFFFF;
      key += 0x9E3779B9;
      other += 0xBB67AE85;
    }
    normalsOf(words[0], words[1], normals.of[0][j], normals.of[1][j]);
    normalsOf(words[2], words[3], normals.of[2][j], normals.of[3][j]);
  }
}

/// Draws the normal numbers of the blocks from `begin` on.
using Draw = void (*)(const WeightNoise &noise, int64_t begin,
                      Normals &normals);

static void drawPlain(const WeightNoise &noise, int64_t begin,
                      Normals &normals) {
  drawNormals(noise, begin, normals);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
drawIn256(const WeightNoise &noise, int64_t begin, Normals &normals) {
  drawNormals(noise, begin, normals);
}

__attribute__((target("avx512f"))) static void
drawIn512(const WeightNoise &noise, int64_t begin, Normals &normals) {
  drawNormals(noise, begin, normals);
}

static Draw chooseDraw() {
  if (checkCpu("+avx512f").succeeded())
    return drawIn512;
  return checkCpu("+avx2").succeeded() ? drawIn256 : drawPlain;
}
#else
static Draw chooseDraw() { return drawPlain; }
#endif

/// noisy = weights plus noise, for the places that `normals` has: those from
/// `place` on, if they are in from .. to-1.
template <typename T>
static void addTo(T *noisy, const T *weights, double deviation,
                  const Normals &normals, int64_t place, int64_t from,
                  int64_t to) {
  auto add = [&](int64_t block, int64_t i) {
    int64_t at = place + 4 * block + i;
    noisy[at] = weights[at] + static_cast<T>(deviation * normals.of[i][block]);
  };
  bool isWhole = from <= place && place + 4 * blocks <= to;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t i = 0; i < 4; ++i)
      if (int64_t at = place + 4 * block + i;
          isWhole || (from <= at && at < to))
        add(block, i);
}

template <typename T>
void fovea::runtime::addNoise(const WeightNoise &noise, T *noisy,
                              const T *weights, int64_t from, int64_t to,
                              FoveaPool *pool) {
  struct Frame {
    const WeightNoise &noise;
    T *noisy;
    const T *weights;
    int64_t from, to, first;
    Draw draw;
  } frame{noise, noisy, weights, from, to, from / 4, chooseDraw()};
  auto run = [](void *opaque, int64_t first, int64_t last) {
    auto &frame = *static_cast<Frame *>(opaque);
    Normals normals;
    for (int64_t unit = first; unit < last; ++unit) {
      int64_t begin = frame.first + unit * blocks;
      frame.draw(frame.noise, begin, normals);
      addTo(frame.noisy, frame.weights, frame.noise.deviation, normals,
            4 * begin, frame.from, frame.to);
    }
  };
  int64_t numBlocks = (to + 3) / 4 - frame.first;
  fovea_parallel(pool, run, &frame, (numBlocks + blocks - 1) / blocks,
                 /*atOnce=*/4);
}

template void fovea::runtime::addNoise(const WeightNoise &, float *,
                                       const float *, int64_t, int64_t,
                                       FoveaPool *);
template void fovea::runtime::addNoise(const WeightNoise &, double *,
                                       const double *, int64_t, int64_t,
                                       FoveaPool *);
