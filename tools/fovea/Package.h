//===- Package.h - a model as a library or a program ----------------------===//

#ifndef FOVEA_TOOLS_FOVEA_PACKAGE_H
#define FOVEA_TOOLS_FOVEA_PACKAGE_H

#include "tools/fovea/Arguments.h"

namespace fovea::cli {

/// `fovea compile --emit obj`, `so` and `exe`: all entries, with the runtime
/// and the weights, in one file. Returns an exit code; errors have been
/// printed.
int runPackage(const Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_PACKAGE_H
