//===- Stopping.h - which weights are the best, and when to stop ----------===//

#ifndef FOVEA_APP_TRAIN_STOPPING_H
#define FOVEA_APP_TRAIN_STOPPING_H

#include "app/open/Session.h"
#include "app/train/Trainer.h"

namespace fovea::cli {

/// Takes both from the command line, which overrides the spec. Returns false if
/// they need a validation and there is none (reported).
bool readStopping(Session &session, const Arguments &arguments,
                  Training &training);

/// The validation metrics: those of the command line, or else of the spec.
/// Metrics of the spec that are not computed here are skipped.
std::vector<std::string> wantedMetrics(const Arguments &arguments,
                                       const Model &model, Progress &progress);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_STOPPING_H
