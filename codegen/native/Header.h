//===- Header.h - the C header of a compiled model ------------*- C++ -*-===//
//
// The C header of one model: its functions, their parameters and results with
// shapes and units, ownership, and errors. It includes no file of ours.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_HEADER_H
#define FOVEA_CODEGEN_NATIVE_HEADER_H

#include "runtime/model/Description.h"
#include "llvm/ADT/StringRef.h"

namespace fovea::codegen {

struct HeaderOptions {
  /// The prefix of all names: a C identifier.
  std::string prefix;
  /// Whether there are weights and vocabularies inside.
  bool hasWeights = false;
  /// `loss`, `grad`, `train_step`.
  std::vector<std::string> entries;
  /// The equations that `get` returns, and the adjoints of data that `grad`
  /// returns.
  std::vector<std::string> values;
  /// Whether the decoder returns equations besides its outputs.
  bool hasShows = false;
};

/// The functions of the header, without the prefix.
std::vector<std::string> headerFunctions(const HeaderOptions &options);

std::string writeHeader(const runtime::Description &description,
                        const HeaderOptions &options);

/// Converts `text` to a C identifier: other characters become `_`.
std::string cName(llvm::StringRef text);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_HEADER_H
