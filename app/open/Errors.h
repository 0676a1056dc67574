//===- Errors.h - how errors without a place begin ------------------------===//
//
// Errors of files, machines and the command line have no source line. They
// begin as the ones in specs do (frontends/fov/Diagnostics.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_OPEN_ERRORS_H
#define FOVEA_APP_OPEN_ERRORS_H

#include "llvm/Support/raw_ostream.h"

namespace fovea::cli {

/// Writes `error: ` to standard error, in colour on a terminal unless the user
/// sets NO_COLOR. Returns the stream for the rest of the line.
llvm::raw_ostream &beginError();

} // namespace fovea::cli

#endif // FOVEA_APP_OPEN_ERRORS_H
