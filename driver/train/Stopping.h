//===- Stopping.h - which weights are the best, and when to stop ----------===//

#ifndef FOVEA_DRIVER_TRAIN_STOPPING_H
#define FOVEA_DRIVER_TRAIN_STOPPING_H

#include "driver/model/Session.h"
#include "driver/train/Trainer.h"

namespace fovea::cli {

/// Takes both from the command line, which says it over the spec. False where
/// they need a validation and there is none (reported).
bool readStopping(Session &session, const Arguments &arguments,
                  Training &training);

/// The metrics of validations: what the command line asks for, or else the
/// spec. Of the spec, what is not computed here is passed over.
std::vector<std::string> wantedMetrics(const Arguments &arguments,
                                       const Model &model, Progress &progress);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_STOPPING_H
