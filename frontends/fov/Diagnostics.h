//===- Diagnostics.h - errors with a place, a line and a caret ------------===//
//
// Wraps llvm::SourceMgr: `file:line:col: error: text [code]`, the source line
// (cut around the caret when it is long), a caret, and notes at second places.
// Messages are lower case, without a period, and quote code in single quotes.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_DIAGNOSTICS_H
#define FOVEA_FRONTENDS_FOV_DIAGNOSTICS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fovea {

/// The kind of an error or a warning: `Code::undefinedName`.
enum class Code {
  none, // notes, and errors of other libraries
#define CODE(id, name) name,
#include "frontends/fov/Codes.def"
};

/// `E0301`; empty for Code::none.
llvm::StringRef idOf(Code code);

/// Turns on colours on a terminal, unless the user sets NO_COLOR. Returns
/// whether `out` has them.
bool enableColours(llvm::raw_ostream &out);

class Diagnostics {
public:
  /// Diagnostics go to `out`; at most `limit` errors are printed in full, and
  /// the rest are counted. A terminal shows them in colour unless the user sets
  /// NO_COLOR.
  explicit Diagnostics(llvm::raw_ostream &out, unsigned limit = 20);

  llvm::SourceMgr &sources() { return manager; }

  /// Receives each error, warning and note in print order: notes follow their
  /// error, and have no code.
  using Listener =
      std::function<void(llvm::SourceMgr::DiagKind kind, Code code,
                         llvm::SMLoc loc, const std::string &text)>;
  void listen(Listener function) { listener = std::move(function); }

  /// Adds a buffer, so that locations into it can be reported. Messages show
  /// the name. Returns the text, which lives as long as this object, without a
  /// leading byte order mark (U+FEFF).
  llvm::StringRef addSource(llvm::StringRef name, std::string text);
  /// Adds whole lines of a file, which follow the given number of lines.
  void addPart(std::unique_ptr<llvm::MemoryBuffer> lines, unsigned before);

  struct Note {
    llvm::SMLoc loc;
    std::string text;
  };
  /// An invalid SMLoc prints the message without a place. Two errors at the
  /// same place with the same text are one.
  void error(Code code, llvm::SMLoc loc, const std::string &text,
             std::vector<Note> notes = {});
  /// Not printed if the line ends with a comment that begins with
  /// `as meant`.
  void warning(Code code, llvm::SMLoc loc, const std::string &text,
               std::vector<Note> notes = {});

  /// From now on, no warning about the text of a spec is shown (W0101 to
  /// W0108): who trained the model has seen them.
  void hideTextWarnings() { hidesTextWarnings = true; }

  /// From now on, an error with the same message and names as an earlier one is
  /// a note. From the fourth place on it is dropped: most such errors have one
  /// cause.
  void joinRepeated() { joinsRepeated = true; }

  /// Errors at `loc` are actually in other text, such as the body of a called
  /// def: they get this note.
  void addOrigin(llvm::SMLoc loc, Note note) {
    origins.try_emplace(loc.getPointer(), std::move(note));
  }

  /// Prints the remaining messages ("3 more errors").
  void finish();

  unsigned numErrors() const { return errors; }
  unsigned numWarnings() const { return warnings; }
  /// Returns whether further errors are only counted, so computing suggestions
  /// is wasted.
  bool isFull() const { return errors >= limit; }
  /// Counts an error without showing it, once the limit is reached.
  void countUnshown() { ++errors; }
  bool failed() const { return errors != 0; }

  /// The 1-based line of a place, for messages that mention a line.
  unsigned lineOf(llvm::SMLoc loc) const;
  /// `line 22`, or `line 22 of rnnsearch.fov` for a message at `from`, which is
  /// in another file.
  std::string lineText(llvm::SMLoc loc, llvm::SMLoc from) const;

private:
  void print(llvm::SourceMgr::DiagKind kind, Code code, llvm::SMLoc loc,
             const std::string &text);
  unsigned lineIn(unsigned buffer, llvm::SMLoc loc) const;
  bool isMeant(llvm::SMLoc loc) const;
  std::string placeText(llvm::SMLoc loc) const;
  void report(llvm::SourceMgr::DiagKind kind, unsigned &count, Code code,
              llvm::SMLoc loc, const std::string &text,
              const std::vector<Note> &notes);
  /// Writes `text` in a colour if the output is a terminal.
  void paint(llvm::raw_ostream::Colors colour, const std::string &text);
  /// Prints the line around a place, with a caret under it.
  void printLine(const llvm::MemoryBuffer &buffer, const char *at);

  llvm::SourceMgr manager;
  llvm::raw_ostream &out;
  unsigned limit;
  bool hasColours;
  unsigned errors = 0;
  unsigned warnings = 0;
  llvm::DenseSet<std::pair<const char *, uint64_t>> seen;
  llvm::DenseMap<const char *, Note> origins;
  bool joinsRepeated = false;
  bool hidesTextWarnings = false;
  llvm::DenseMap<uint64_t, unsigned> repeats;     // of a text
  llvm::DenseMap<unsigned, unsigned> linesBefore; // of parts of a file
  Listener listener;
};

/// `text` in single quotes, cut when it is longer than a name should be.
std::string quoted(llvm::StringRef text);

/// Returns the candidate nearest to `name` by edit distance, or an empty string
/// if none could be a typo.
llvm::StringRef nearest(llvm::StringRef name,
                        llvm::ArrayRef<llvm::StringRef> candidates);

/// Returns "; did you mean 'near'?" if a candidate is near, or an empty string.
std::string suggestion(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> candidates);

/// Returns the suggestion in a message, `near`, or an empty
/// string.
std::optional<llvm::StringRef> suggestedBy(llvm::StringRef message);

/// As suggestion(); if none is near, "; there are a, b and c" lists all, the
/// nearest first.
std::string existing(llvm::StringRef name,
                     std::vector<llvm::StringRef> candidates);

/// "1 axis", "2 axes": `noun` in the singular.
std::string counted(size_t count, llvm::StringRef noun);

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_DIAGNOSTICS_H
