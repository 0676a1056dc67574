//===- ForeignWords.h - what others call it -------------------------------===//
//
// The help for syntax of other systems. Every help begins with "; help: " and
// is appended to the message that states the fault.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_FOREIGNWORDS_H
#define FOVEA_FRONTENDS_FOV_FOREIGNWORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace fovea::fov {

/// The use of a word that is not in the language. A Function is called, a Value
/// is not.
enum class WordPlace {
  Value,
  Function,
  Module,
  Size,
  Type,
  Distribution,
  Train,
  Decode,
  Metric,
  Statement
};

/// Returns the help for a word of PyTorch, Keras or NumPy, or nothing. A
/// prefix, as in
/// `nn.GRU`, counts for nothing.
std::string ourWord(llvm::StringRef word, WordPlace place);

/// Returns the help for a parameter of a distribution with the parameters
/// `known`.
std::string ourParameter(llvm::StringRef word,
                         llvm::ArrayRef<llvm::StringRef> known);

/// Returns whether `word` is a usual alias of a library, such as `np`.
bool isLibrary(llvm::StringRef word);

/// Returns the help for text that begins with a sign outside the language:
/// `\\alpha`,
/// `&&`, a Greek letter. `before` is the character before it, or 0.
std::string ourSign(llvm::StringRef text, char before);

/// The help for a transposition.
llvm::StringRef transpositionHelp();

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_FOREIGNWORDS_H
