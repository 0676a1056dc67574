//===- LoadProgram.h - a spec with the models that it uses ----------------===//

#ifndef FOVEA_FRONTENDS_FOV_LOADPROGRAM_H
#define FOVEA_FRONTENDS_FOV_LOADPROGRAM_H

#include "frontends/fov/Description.h"
#include "frontends/fov/elaborate/Elaborate.h"

namespace fovea::fov {

/// Parses a text that `diagnostics` owns, and everything that it uses. Null, or
/// with errors in `diagnostics`, on an error.
std::unique_ptr<Program> loadProgram(llvm::StringRef text,
                                     const FrontendOptions &options,
                                     Diagnostics &diagnostics);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_LOADPROGRAM_H
