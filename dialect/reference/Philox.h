//===- Philox.h - random numbers by their place ---------------------------===//
//
// What the counters of runtime/Philox.h mean to a model.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_PHILOX_H
#define FOVEA_DIALECT_REFERENCE_PHILOX_H

#include "runtime/Philox.h"

namespace fovea::reference {

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
  return runtime::philox({uint32_t(place.element),
                          uint32_t(place.element >> 32),
                          uint32_t(place.example), uint32_t(place.update)},
                         {uint32_t(place.seed), place.ordinal})[0] /
         4294967296.0;
}

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_PHILOX_H
