//===- JsonDepth.h - how deep a JSON text nests ---------------------------===//
//
// LLVM parses JSON recursively, so untrusted text is checked before it is
// parsed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_OPEN_JSONDEPTH_H
#define FOVEA_APP_OPEN_JSONDEPTH_H

#include "llvm/ADT/StringRef.h"

namespace fovea::cli {

/// Returns whether a text, valid JSON or not, nests arrays and objects more
/// than `deepest` deep.
bool nestsDeeper(llvm::StringRef json, unsigned deepest);

} // namespace fovea::cli

#endif // FOVEA_APP_OPEN_JSONDEPTH_H
