//===- Warnings.h - likely mistakes of a right model ----------------------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_WARNINGS_H
#define FOVEA_FRONTENDS_FOV_CHECK_WARNINGS_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Elaborate.h"

namespace fovea::fov {

/// Warns about valid but probably unintended constructs in a training model
/// that passed inference and the proof of bounds. `init` is the initialiser
/// that `train` names, or empty.
void warnOfMistakes(const Elaborated &model, StringRef init,
                    Diagnostics &diagnostics);

/// Warns about declarations of the file that are never used.
void warnOfUnused(const Program &program, Diagnostics &diagnostics);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_WARNINGS_H
