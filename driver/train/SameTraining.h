//===- SameTraining.h - whether all processes train the same --------------===//
//
// What all processes of a team compare before a training begins. All call both
// functions and get the same sentence: what the first rank that is odd has
// otherwise than rank 0; empty where nothing is.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_SAMETRAINING_H
#define FOVEA_DRIVER_TRAIN_SAMETRAINING_H

#include "driver/train/Identity.h"

namespace fovea::cli {

/// Of what was asked for: equations, data, options and limits.
std::string findOddTraining(const Identity &identity,
                            const Arguments &arguments, uint64_t seed);

/// Of the bits of the gradients of a batch, which do not depend on the CPU: a
/// process that has others is on a broken machine, or we have made a mistake.
std::string findOddGradient(const Training &training, runtime::Learner &learner,
                            const Model &model, uint64_t seed);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_SAMETRAINING_H
