//===- Advice.h - what a command line may have meant ----------*- C++ -*-===//
//
// Options that other tools have under other names, and options that change
// nothing beside those that are given.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_ADVICE_H
#define FOVEA_TOOLS_FOVEA_ADVICE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace fovea::cli {

/// What stands here for an option of PyTorch, Keras or fairseq; empty when
/// nothing does. `hasOption` says whether the command has an option, `--batch`.
std::string adviceFor(llvm::StringRef option,
                      llvm::function_ref<bool(llvm::StringRef)> hasOption);

/// What to say of given options of `command` that change nothing.
std::vector<std::string>
idleOptions(llvm::StringRef command,
            llvm::function_ref<bool(llvm::StringRef)> isGiven);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_ADVICE_H
