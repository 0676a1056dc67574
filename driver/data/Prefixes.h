//===- Prefixes.h - what generated lines begin with -----------------------===//

#ifndef FOVEA_DRIVER_DATA_PREFIXES_H
#define FOVEA_DRIVER_DATA_PREFIXES_H

#include "driver/model/Execution.h"

namespace fovea::cli {

/// The generated name that `text`, `NAME=FILE` or `FILE`, is about, and its
/// file. Null when that is not one name (diagnosed).
const DataInfo *findGenerated(Session &session, const Model &model,
                              const std::string &text, std::string &path);

/// Reads each `--prefix`, a line per example, into the examples. False when
/// anything is wrong (diagnosed): a symbol that the vocabulary lacks, too.
bool readPrefixes(Session &session, const Arguments &arguments,
                  Execution &execution);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_PREFIXES_H
