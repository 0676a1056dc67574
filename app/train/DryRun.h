//===- DryRun.h - what a training will cost -------------------------------===//
//
// `fovea train --dry-run` computes gradients of two batches, updates nothing,
// and reports memory and time.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_DRYRUN_H
#define FOVEA_APP_TRAIN_DRYRUN_H

#include "app/train/Trainer.h"

namespace fovea::cli {

/// Describes the examples, the updates of an epoch and the memory of the
/// largest batch. Also the time and the speed of a middle one. Each fact has a
/// line.
runtime::Status dryRun(const Training &training, runtime::Learner &learner,
                       uint64_t seed, std::string &report);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_DRYRUN_H
