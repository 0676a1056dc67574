//===- Warnings.h - likely mistakes of a right model ----------------------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_WARNINGS_H
#define FOVEA_FRONTENDS_FOV_CHECK_WARNINGS_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Elaborate.h"

namespace fovea::fov {

/// Warns of what is allowed and hardly ever meant in a model of training that
/// inference and the proof of bounds have accepted. `init` is the initialiser
/// that `train` names, or empty.
void warnOfMistakes(const Elaborated &model, StringRef init,
                    Diagnostics &diagnostics);

/// Warns of declarations of the file that no other word of the program names.
void warnOfUnused(const Program &program, Diagnostics &diagnostics);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_WARNINGS_H
