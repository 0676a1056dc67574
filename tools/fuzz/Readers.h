//===- Readers.h - readers of foreign files, for fuzzing ------------------===//

#ifndef FOVEA_TOOLS_FUZZ_READERS_H
#define FOVEA_TOOLS_FUZZ_READERS_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace fovea::fuzz {

/// A reader of one kind of file. `read` must accept any bytes: it either
/// succeeds or returns an error with a text, and what it has read must be
/// consistent. Everything else ends the process.
struct Reader {
  const char *name;
  void (*read)(const std::string &bytes);
};

/// All readers, by name.
llvm::ArrayRef<Reader> readers();

/// Null if no reader has this name.
const Reader *readerNamed(llvm::StringRef name);

} // namespace fovea::fuzz

#endif // FOVEA_TOOLS_FUZZ_READERS_H
