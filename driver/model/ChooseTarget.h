//===- ChooseTarget.h - the machine that a command runs on ----------------===//

#ifndef FOVEA_DRIVER_MODEL_CHOOSETARGET_H
#define FOVEA_DRIVER_MODEL_CHOOSETARGET_H

#include "driver/Arguments.h"

namespace fovea::cli {

/// For `--target cuda`, opens the GPU and sets its target. For
/// `auto`, falls back to this CPU with a note. Returns an exit
/// code.
int chooseTarget(Arguments &arguments);

/// Checks that the target supports `--precision`. Returns an exit code.
int checkPrecision(const Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_CHOOSETARGET_H
