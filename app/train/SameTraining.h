//===- SameTraining.h - whether all processes train the same --------------===//
//
// Comparisons between all processes of a team before training. Both are
// collective calls that return the same sentence: what the first differing rank
// has other than rank 0; empty if none differs.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_SAMETRAINING_H
#define FOVEA_APP_TRAIN_SAMETRAINING_H

#include "app/train/Identity.h"

namespace fovea::cli {

/// Compares the settings: equations, data, options and limits.
std::string findOddTraining(const Identity &identity,
                            const Arguments &arguments, uint64_t seed);

/// Compares the bits of a batch's gradients, which do not depend on the CPU: a
/// difference means a broken machine, or a bug.
std::string findOddGradient(const Training &training, runtime::Learner &learner,
                            const Model &model, uint64_t seed);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_SAMETRAINING_H
