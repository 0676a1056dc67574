//===- Manual.h - what the command line says of itself --------*- C++ -*-===//
//
// Manual pages and completions for shells, from the same commands and options
// that `--help` prints.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_MANUAL_H
#define FOVEA_TOOLS_FOVEA_MANUAL_H

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace fovea::cli {

/// The page of `fovea`, or of one of its commands, in the macros of man(7).
std::string manualPage(const CLI::App &app, const CLI::App *command);

/// Returns a script that makes `bash`, `zsh` or `fish` complete commands,
/// options, and values from a fixed set.
std::string completionFor(const CLI::App &app, const std::string &shell);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_MANUAL_H
