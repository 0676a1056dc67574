//===- Options.h - the words that the language knows ----------------------===//

#ifndef FOVEA_FRONTENDS_FOV_OPTIONS_H
#define FOVEA_FRONTENDS_FOV_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace fovea::fov {

/// Functions that are no defs: tanh, dot, fold, zeros, ..
llvm::ArrayRef<llvm::StringRef> builtinNames();
/// The options of `train` and of `decode` (docs/LANGUAGE.md).
llvm::ArrayRef<llvm::StringRef> trainOptions();
llvm::ArrayRef<llvm::StringRef> decodeOptions();
/// The estimators of a latent, and the treatments of an observed name.
llvm::ArrayRef<llvm::StringRef> estimators();
/// The treatments of a random name in decoding.
llvm::ArrayRef<llvm::StringRef> decodeTreatments();
/// Metrics that `metric` may name.
llvm::ArrayRef<llvm::StringRef> metrics();
/// Optimisers, schedules and other words of option values.
llvm::ArrayRef<llvm::StringRef> optimisers();

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_OPTIONS_H
