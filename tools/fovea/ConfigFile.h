//===- ConfigFile.h - options of a command in a file ------------*- C++ -*-===//
//
// `--config FILE` reads options from the lines of a file:
//   # comment
//   spec = model.fov
//   data = src=train.tsv:1,tgt=train.tsv:2
//   title = "a title # with a hash"   # comment
//   quiet
// An option of the command line replaces the file's option; `set` of both
// applies. This file reads the lines; CommandLine.cpp knows the options.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_CONFIGFILE_H
#define FOVEA_TOOLS_FOVEA_CONFIGFILE_H

#include <optional>
#include <string>
#include <vector>

namespace fovea::cli {

/// One line of a configuration file.
struct ConfigLine {
  std::string name;                 // without dashes
  std::optional<std::string> value; // none without `=`
  std::string place;                // FILE:LINE
};

/// The options of a configuration file.
struct Config {
  std::string path;
  std::vector<ConfigLine> lines;
};

/// Removes `--config FILE` from a command line and reads the file. Without the
/// option, the result is empty. Returns nothing on an error (reported).
std::optional<Config> takeConfig(std::vector<std::string> &words);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_CONFIGFILE_H
