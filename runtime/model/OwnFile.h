//===- OwnFile.h - is this program as it was made? ------------*- C++ -*-===//

#ifndef FOVEA_RUNTIME_MODEL_OWNFILE_H
#define FOVEA_RUNTIME_MODEL_OWNFILE_H

#include "runtime/Status.h"

namespace fovea::runtime {

/// Fails where the file of this process has other bytes than it was made with;
/// weights and description, which have checksums of their own, aside. Passes
/// where the file cannot be read.
Status checkOwnFile();

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_OWNFILE_H
