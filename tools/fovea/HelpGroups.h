//===- HelpGroups.h - the order of commands and options in help -*- C++ -*-===//

#ifndef FOVEA_TOOLS_FOVEA_HELPGROUPS_H
#define FOVEA_TOOLS_FOVEA_HELPGROUPS_H

namespace CLI {
class App;
} // namespace CLI

namespace fovea::cli {

/// Gives the commands, and the options of commands with many, the headings
/// under which help lists them.
void groupHelp(CLI::App &app);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_HELPGROUPS_H
