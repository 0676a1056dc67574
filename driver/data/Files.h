//===- Files.h - whole files, read and written ----------------------------===//

#ifndef FOVEA_DRIVER_DATA_FILES_H
#define FOVEA_DRIVER_DATA_FILES_H

#include "runtime/data/SafeTensors.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace fovea::cli {

/// The text of a spec or of standard input ("-"); nothing, and said why, when
/// it cannot be read.
std::optional<std::string> readInput(const std::string &path);

/// Writes `text` to `path`, or to standard output when that is empty or `-`.
/// Whoever reads the file meanwhile has the old text or the new one, and never
/// half of it. Permissions stay; of a symbolic link the target is replaced.
/// Returns an exit code; an error has been printed.
int writeText(const std::string &path, llvm::StringRef text);

/// The same for tensors.
int writeTensors(const std::string &path, const runtime::TensorFile &file);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_FILES_H
