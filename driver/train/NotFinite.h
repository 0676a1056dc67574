//===- NotFinite.h - where a loss stops being a number --------------------===//

#ifndef FOVEA_DRIVER_TRAIN_NOTFINITE_H
#define FOVEA_DRIVER_TRAIN_NOTFINITE_H

#include "driver/model/Session.h"
#include "driver/train/Trainer.h"

namespace fovea::cli {

/// Runs the batch at which a training ended once more with every equation as
/// an output, and reports the first that is not finite: that is not a number,
/// if there is one. Where none is found, nothing is reported.
void explainNotFinite(Session &session, const Arguments &arguments,
                      const Training &training, runtime::Learner &learner,
                      const Position &position, const TrainEnd &end);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_NOTFINITE_H
