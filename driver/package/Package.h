//===- Package.h - a model as a library or a program ----------------------===//

#ifndef FOVEA_DRIVER_PACKAGE_PACKAGE_H
#define FOVEA_DRIVER_PACKAGE_PACKAGE_H

#include "driver/Arguments.h"

namespace fovea::cli {

/// `fovea compile --emit obj`, `so` and `exe`: all entries, with the runtime
/// and the weights, in one file. Returns an exit code; errors have been
/// printed.
int runPackage(const Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_PACKAGE_PACKAGE_H
