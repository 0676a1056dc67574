//===- Package.h - a model as a library or a program ----------------------===//

#ifndef FOVEA_APP_PACKAGE_PACKAGE_H
#define FOVEA_APP_PACKAGE_PACKAGE_H

#include "app/Arguments.h"

namespace fovea::cli {

/// `fovea compile --emit obj`, `so` and `exe`: all entries, with the runtime
/// and the weights, in one file. Returns an exit code; errors have been
/// printed.
int runPackage(const Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_APP_PACKAGE_PACKAGE_H
