//===- Options.h - the words that the language knows ----------------------===//

#ifndef FOVEA_FRONTENDS_FOV_OPTIONS_H
#define FOVEA_FRONTENDS_FOV_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace fovea::fov {

/// Built-in functions that are not defs: tanh, dot, fold, zeros, ..
llvm::ArrayRef<llvm::StringRef> builtinNames();
/// The estimators of a latent, and the treatments of an observed name.
llvm::ArrayRef<llvm::StringRef> estimators();
/// The treatments of a random name in decoding.
llvm::ArrayRef<llvm::StringRef> decodeTreatments();
/// Metrics that `metric` may name.
llvm::ArrayRef<llvm::StringRef> metrics();
/// The options of `train` or `decode`.
llvm::ArrayRef<llvm::StringRef> optionNames(llvm::StringRef block);
/// Returns the error in the option `name` of `train` or `decode`, whose value
/// begins with `word` (empty: with something else); empty if it is valid.
std::string optionMistake(llvm::StringRef block, llvm::StringRef name,
                          llvm::StringRef word);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_OPTIONS_H
