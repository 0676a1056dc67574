//===- Philox.h - random numbers by their place ---------------------------===//
//
// The counters of runtime/Philox.h for a model.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_PHILOX_H
#define FOVEA_DIALECT_REFERENCE_PHILOX_H

#include "runtime/Philox.h"

namespace fovea::reference {

/// The purpose of a random number.
struct RandomPlace {
  uint64_t seed = 0;    // its low 32 bits count
  uint32_t ordinal = 0; // of the op in the model
  uint64_t update = 0, example = 0;
  uint64_t element = 0; // row-major
  uint64_t sample = 0;  // of several draws; below 2^16
  bool hasSeed = true;  // or one of its own, where none is given
};

/// philox(counter = (element low, element high + sample * 2^16, example,
///                   update),
///        key = (seed, ordinal)).
inline std::array<uint32_t, 4> wordsAt(const RandomPlace &place) {
  uint64_t element = place.element + (place.sample << 48);
  return runtime::philox({uint32_t(element), uint32_t(element >> 32),
                          uint32_t(place.example), uint32_t(place.update)},
                         {uint32_t(place.seed), place.ordinal});
}

/// Uniform in [0, 1): the first word / 2^32.
inline double uniformAt(const RandomPlace &place) {
  return wordsAt(place)[0] / 4294967296.0;
}

/// Uniform strictly between 0 and 1, and exact in f32.
inline double openUniformAt(const RandomPlace &place, unsigned word) {
  return (2.0 * (wordsAt(place)[word] >> 9) + 1) / 16777216.0;
}

/// The default seed of samples.
inline constexpr uint64_t noSeed = ~uint64_t(0);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_PHILOX_H
