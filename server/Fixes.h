//===- Fixes.h - edits that mend what a message says ------------*- C++ -*-===//
//
// Turns the `help:` of a message into edits, where the text leaves no choice,
// or only a few. A help that asks for a decision of the author has no edit.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_FIXES_H
#define FOVEA_SERVER_FIXES_H

#include "server/Text.h"

namespace fovea::editors {

struct Fix {
  std::string title;
  llvm::lsp::TextEdit edit;
};

/// The edits for a message about `word`, a part of the text of `lines`.
std::vector<Fix> fixesOf(const Lines &lines, llvm::StringRef word,
                         llvm::StringRef message);

} // namespace fovea::editors

#endif // FOVEA_SERVER_FIXES_H
