//===- SourceFile.h - the text of a spec ----------------------*- C++ -*-===//

#ifndef FOVEA_FRONTENDS_FOV_SYNTAX_SOURCEFILE_H
#define FOVEA_FRONTENDS_FOV_SYNTAX_SOURCEFILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace fovea {

/// The text of the spec at `path`, or of standard input (`-`), which can be
/// asked for any number of times. Nothing, and `why`, where it cannot be read;
/// a pipe or device that has a name is not (runtime/data/OpenFile.h).
std::optional<std::string> readSource(const std::string &path,
                                      std::string &why);

/// What messages call it.
llvm::StringRef sourceName(llvm::StringRef path);

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_SYNTAX_SOURCEFILE_H
