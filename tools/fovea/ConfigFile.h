//===- ConfigFile.h - options of a command in a file ------------*- C++ -*-===//
//
// `--config FILE` reads options from the lines of a file:
//   # comment
//   spec = model.fov
//   data = src=train.tsv:1,tgt=train.tsv:2
//   quiet
// An option of the command line replaces the file's option; `set` of both
// applies.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_CONFIGFILE_H
#define FOVEA_TOOLS_FOVEA_CONFIGFILE_H

#include <string>
#include <vector>

namespace fovea::cli {

/// Replaces `--config FILE` in a command line by the options of the file.
/// Returns false on an error (reported).
bool expandConfig(std::vector<std::string> &words);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_CONFIGFILE_H
