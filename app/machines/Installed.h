//===- Installed.h - files that are installed with this program -*- C++ -*-===//

#ifndef FOVEA_APP_MACHINES_INSTALLED_H
#define FOVEA_APP_MACHINES_INSTALLED_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace fovea::cli {

/// Returns the path of the runtime file `name`, which may start with a folder
/// of another machine, in the folder `lib` beside this program's.
std::optional<std::string> findInstalled(llvm::StringRef name);

} // namespace fovea::cli

#endif // FOVEA_APP_MACHINES_INSTALLED_H
