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

/// Describes the examples, the updates of an epoch, the memory of the largest
/// batch and the time of a middle one, one fact per line.
runtime::Status dryRun(const Training &training, runtime::Learner &learner,
                       uint64_t seed, std::string &report);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_DRYRUN_H
