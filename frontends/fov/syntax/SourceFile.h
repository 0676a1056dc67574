//===- SourceFile.h - the text of a spec ----------------------*- C++ -*-===//

#ifndef FOVEA_FRONTENDS_FOV_SYNTAX_SOURCEFILE_H
#define FOVEA_FRONTENDS_FOV_SYNTAX_SOURCEFILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace fovea {

/// Returns the text of the spec at `path`, or of standard input (`-`), any
/// number of times. Returns nothing, with the reason in `why`, if it cannot be
/// read, as with a named pipe or device (runtime/data/OpenFile.h).
std::optional<std::string> readSource(const std::string &path,
                                      std::string &why);

/// Its name in messages.
llvm::StringRef sourceName(llvm::StringRef path);

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_SYNTAX_SOURCEFILE_H
