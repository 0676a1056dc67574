//===- ChooseTarget.h - the machine that a command runs on ----------------===//

#ifndef FOVEA_DRIVER_MODEL_CHOOSETARGET_H
#define FOVEA_DRIVER_MODEL_CHOOSETARGET_H

#include "driver/Arguments.h"

namespace fovea::cli {

/// Where `--target` says `cuda`, opens the GPU and names the target that it is;
/// where it says `auto`, takes this CPU if there is none, and says so. Returns
/// an exit code.
int chooseTarget(Arguments &arguments);

/// Whether the target has what `--precision` asks for. Returns an exit code.
int checkPrecision(const Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_CHOOSETARGET_H
