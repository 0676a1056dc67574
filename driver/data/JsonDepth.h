//===- JsonDepth.h - how deep a JSON text nests ---------------------------===//
//
// LLVM reads JSON by recursion: a text that somebody else wrote is looked at
// before it is parsed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_JSONDEPTH_H
#define FOVEA_DRIVER_DATA_JSONDEPTH_H

#include "llvm/ADT/StringRef.h"

namespace fovea::cli {

/// Whether arrays and objects of a text, which need not be JSON, stand in each
/// other more than `deepest` deep.
bool nestsDeeper(llvm::StringRef json, unsigned deepest);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_JSONDEPTH_H
