//===- Options.h - the commands and their options -------------*- C++ -*-===//

#ifndef FOVEA_TOOLS_FOVEA_OPTIONS_H
#define FOVEA_TOOLS_FOVEA_OPTIONS_H

#include "app/Arguments.h"

namespace CLI {
class App;
} // namespace CLI

namespace fovea::cli {

/// Adds every command with its options to `app`. Parsed options go into
/// `arguments`.
void addCommands(CLI::App &app, Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_OPTIONS_H
