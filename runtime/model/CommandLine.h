//===- CommandLine.h - what a program is asked to do ----------------------===//

#ifndef FOVEA_RUNTIME_MODEL_COMMANDLINE_H
#define FOVEA_RUNTIME_MODEL_COMMANDLINE_H

#include "runtime/model/Description.h"
#include "runtime/model/SearchFlags.h"

#include <optional>

namespace fovea::runtime {

enum ExitCode { done = 0, badInput = 1, badUsage = 2, badMachine = 3 };

/// The command line, unevaluated.
struct Flags {
  SearchFlags search;
  std::vector<std::string> files;
  std::vector<std::string> weights;
  std::vector<std::string> prefixes; // FILE or NAME=FILE
  std::vector<std::string> shows;    // NAME=FILE
  int threads = 0;
  bool score = false;
};

/// The names of the equations that a program can show, separated by commas.
std::string shownNames(const Description &description);

/// Parses the command line; returns an exit code if the program should end.
std::optional<int> readFlags(const Description &description, int argc,
                             char **argv, Flags &flags);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_COMMANDLINE_H
