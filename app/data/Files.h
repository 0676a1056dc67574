//===- Files.h - whole files, read and written ----------------------------===//

#ifndef FOVEA_APP_DATA_FILES_H
#define FOVEA_APP_DATA_FILES_H

#include "runtime/data/SafeTensors.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace fovea::cli {

/// Reads the text of a spec or of standard input ("-"). Returns nothing on an
/// error (reported).
std::optional<std::string> readInput(const std::string &path);

/// Writes `text` to `path`, or to standard output if `path` is empty or `-`.
/// Readers see the old text or the new one, never half of it. Keeps
/// permissions; replaces the target of a symbolic link. Returns an exit code;
/// errors have been printed.
int writeText(const std::string &path, llvm::StringRef text);

/// The same for tensors.
int writeTensors(const std::string &path, const runtime::TensorFile &file);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_FILES_H
