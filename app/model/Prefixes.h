//===- Prefixes.h - what generated lines begin with -----------------------===//

#ifndef FOVEA_APP_MODEL_PREFIXES_H
#define FOVEA_APP_MODEL_PREFIXES_H

#include "app/model/Execution.h"

namespace fovea::cli {

/// Returns the generated name that `text`, `NAME=FILE` or `FILE`, refers to,
/// and its file. Null if that is not exactly one name (diagnosed).
const DataInfo *findGenerated(Session &session, const Model &model,
                              const std::string &text, std::string &path);

/// Reads each `--prefix`, one line per example, into the examples. Returns
/// false on any error (diagnosed), such as an unknown symbol.
bool readPrefixes(Session &session, const Arguments &arguments,
                  Execution &execution);

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_PREFIXES_H
