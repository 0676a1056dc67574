//===- Embedded.h - files that are part of the program ----------*- C++ -*-===//

#ifndef FOVEA_TOOLS_FOVEA_EMBEDDED_H
#define FOVEA_TOOLS_FOVEA_EMBEDDED_H

#include "llvm/ADT/StringRef.h"

namespace fovea::cli {

/// One file of a table that `fovea_embed` writes (cmake/FoveaEmbed.cmake).
struct EmbeddedFile {
  const char *name; // `translate/model.fov`
  const unsigned char *bytes;
  size_t size;

  llvm::StringRef text() const {
    return {reinterpret_cast<const char *>(bytes), size};
  }
};

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_EMBEDDED_H
