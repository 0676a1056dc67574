//===- Header.h - the C header of a compiled model ------------*- C++ -*-===//
//
// One text for one model: its functions, what they take and give, in shapes and
// units, who owns what, and what can go wrong. It includes nothing of ours.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_HEADER_H
#define FOVEA_CODEGEN_NATIVE_HEADER_H

#include "runtime/model/Description.h"
#include "llvm/ADT/StringRef.h"

namespace fovea::codegen {

struct HeaderOptions {
  /// What all names begin with: a name of C.
  std::string prefix;
  /// Whether there are weights and vocabularies inside.
  bool hasWeights = false;
  /// `loss`, `grad`, `train_step`.
  std::vector<std::string> entries;
  /// The equations that `get` gives, and the adjoints of data that `grad` does.
  std::vector<std::string> values;
  /// Whether the decoder gives equations besides what it generates.
  bool hasShows = false;
};

/// The functions of the header, without the prefix.
std::vector<std::string> headerFunctions(const HeaderOptions &options);

std::string writeHeader(const runtime::Description &description,
                        const HeaderOptions &options);

/// A name of C that `text` turns into: other characters become `_`.
std::string cName(llvm::StringRef text);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_HEADER_H
