//===- Advice.h - what a command line may have meant ----------*- C++ -*-===//
//
// Help for options of other tools, and warnings about options without
// effect.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_ADVICE_H
#define FOVEA_TOOLS_FOVEA_ADVICE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace fovea::cli {

/// Returns the help for an option of PyTorch, Keras, Marian or fairseq; empty
/// if there is none. `hasOption` returns whether the command has an option,
/// `--batch`.
std::string adviceFor(llvm::StringRef option,
                      llvm::function_ref<bool(llvm::StringRef)> hasOption);

/// Returns our name of the command that other tools call `word`, or nothing.
std::string commandFor(llvm::StringRef word);

/// Returns warnings about given options of `command` that have no effect.
std::vector<std::string>
idleOptions(llvm::StringRef command,
            llvm::function_ref<bool(llvm::StringRef)> isGiven);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_ADVICE_H
