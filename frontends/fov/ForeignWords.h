//===- ForeignWords.h - what others call it -------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_FOREIGNWORDS_H
#define FOVEA_FRONTENDS_FOV_FOREIGNWORDS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace fovea::fov {

/// Where a word stands that the language does not know.
enum class WordPlace { Expression, Module, Type, Distribution, Train, Decode };

/// "; write gru(H)" for GRU where a module stands: what a word of PyTorch,
/// Keras or NumPy is here, or nothing. A prefix, as in `nn.GRU`, counts for
/// nothing.
std::string ourWord(llvm::StringRef word, WordPlace place);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_FOREIGNWORDS_H
