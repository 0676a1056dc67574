//===- Carries.h - random decoders that carry states of every kind --------===//
//
// `generateCarries` writes a spec whose steps carry values: values that never
// change, that grow by a row, that longer ones replace, and that are used in
// loops inside the step. With `nearly`, some places and conditions are changed
// so that many of the specs train and cannot be decoded.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_CARRIES_H
#define FOVEA_TEST_RANDOM_CARRIES_H

#include "test/random/Generator.h"

namespace fovea::random {

Spec generateCarries(uint64_t seed, bool nearly);

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_CARRIES_H
