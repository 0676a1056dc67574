//===- Installed.h - files that are installed with this program -*- C++ -*-===//

#ifndef FOVEA_DRIVER_MODEL_INSTALLED_H
#define FOVEA_DRIVER_MODEL_INSTALLED_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace fovea::cli {

/// Where the runtime's file `name` is, which may begin with a folder of another
/// machine: in the folder `lib` beside this program's, or where it was built.
std::optional<std::string> findInstalled(llvm::StringRef name);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_INSTALLED_H
