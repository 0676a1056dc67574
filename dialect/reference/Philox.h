//===- Philox.h - random numbers by their place ---------------------------===//
//
// Philox4x32-10 (Salmon et al. 2011): four random words for a key and a
// counter, so that a number depends on what it is for and on nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_PHILOX_H
#define FOVEA_DIALECT_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace fovea::reference {

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0];
    uint64_t second = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// What a random number is for.
struct RandomPlace {
  uint64_t seed = 0;    // its low 32 bits count
  uint32_t ordinal = 0; // of the op in the model
  uint64_t update = 0, example = 0;
  uint64_t element = 0; // row-major
};

/// Uniform in [0, 1): the first word of
/// philox(counter = (element low, element high, example, update),
///        key = (seed, ordinal)) / 2^32.
inline double uniformAt(const RandomPlace &place) {
  return philox({uint32_t(place.element), uint32_t(place.element >> 32),
                 uint32_t(place.example), uint32_t(place.update)},
                {uint32_t(place.seed), place.ordinal})[0] /
         4294967296.0;
}

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_PHILOX_H
