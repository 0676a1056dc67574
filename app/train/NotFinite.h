//===- NotFinite.h - where a loss stops being a number --------------------===//

#ifndef FOVEA_APP_TRAIN_NOTFINITE_H
#define FOVEA_APP_TRAIN_NOTFINITE_H

#include "app/open/Session.h"
#include "app/train/Trainer.h"

namespace fovea::cli {

/// Reruns the failing batch with every equation as an output, and reports the
/// first one that is not finite, preferably a NaN. Reports nothing if there is
/// none.
void explainNotFinite(Session &session, const Arguments &arguments,
                      const Training &training, runtime::Learner &learner,
                      const Position &position, const TrainEnd &end);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_NOTFINITE_H
