//===- OwnFile.h - is this program as it was made? ------------*- C++ -*-===//

#ifndef FOVEA_RUNTIME_MODEL_OWNFILE_H
#define FOVEA_RUNTIME_MODEL_OWNFILE_H

#include "runtime/Status.h"

namespace fovea::runtime {

/// Fails if the file of this process differs from the built file. Ignores
/// weights and description, which have their own checksums. Passes if the file
/// cannot be read.
Status checkOwnFile();

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_OWNFILE_H
