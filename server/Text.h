//===- Text.h - places in a text as editors count ---------------*- C++ -*-===//
//
// Editors count lines from 0 and, within a line, units of UTF-16; the compiler
// counts bytes. Positions outside of a text mean the nearest one inside, as the
// protocol says, and bytes that are no UTF-8 count as one unit each.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_TEXT_H
#define FOVEA_SERVER_TEXT_H

#include "llvm/Support/LSP/Protocol.h"

#include <string>
#include <vector>

namespace fovea::editors {

/// The lines of a text that lives elsewhere.
class Lines {
public:
  explicit Lines(llvm::StringRef text);

  llvm::StringRef text() const { return all; }
  /// The byte that a position means.
  size_t offsetOf(const llvm::lsp::Position &position) const;
  llvm::lsp::Position positionOf(size_t offset) const;
  /// Of a part of the text.
  llvm::lsp::Range rangeOf(llvm::StringRef part) const;
  bool contains(const char *place) const {
    return place >= all.begin() && place <= all.end();
  }
  /// The line, without its end.
  llvm::StringRef line(size_t number) const;
  size_t count() const { return starts.size(); }

private:
  llvm::StringRef all;
  std::vector<size_t> starts;
};

/// The text as UTF-8, which JSON takes alone.
std::string clean(llvm::StringRef text);

/// Replaces a part of `text`, or all of it where the change has no range.
void apply(const llvm::lsp::TextDocumentContentChangeEvent &change,
           std::string &text);

} // namespace fovea::editors

#endif // FOVEA_SERVER_TEXT_H
