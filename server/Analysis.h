//===- Analysis.h - all that is known of one file ---------------*- C++ -*-===//
//
// Checks the text of an editor as `fovea check` does, and keeps what was found:
// what is wrong, which names mean what, their shapes, and what the decoder does
// with them. The system of training is checked at once. A second step checks
// decoding and lowers both, which takes longer and finds the rest.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_ANALYSIS_H
#define FOVEA_SERVER_ANALYSIS_H

#include "frontends/fov/Description.h"
#include "frontends/fov/Diagnostics.h"
#include "server/Fixes.h"
#include "server/Names.h"
#include "server/Text.h"

#include "llvm/ADT/DenseMap.h"

#include <atomic>
#include <functional>

namespace fovea::fov {
struct CheckedSpec;
class Recheck;
} // namespace fovea::fov

namespace fovea::editors {

/// The text of an open file; nothing where the disk counts.
using ReadOpen =
    std::function<std::optional<std::string>(const std::string &path)>;

/// As many errors as an editor lists.
constexpr unsigned mostProblems = 100;

/// What was said about a place, and what would mend it.
struct Problem {
  llvm::lsp::Diagnostic diagnostic;
  Code code = Code::none;
  std::vector<Fix> fixes;
  bool isOfTrial = false; // lowering found it
};

class Analysis {
public:
  /// Checks `text`, the file at `path` (absolute), until `stop` is true.
  Analysis(const std::string &path, const std::string &text,
           const ReadOpen &readOpen, const std::atomic<bool> &stop);
  ~Analysis();

  /// Whether `stop` ended the check: nothing is known.
  bool isStopped() const { return stopped; }

  /// Checks `newText` if an edit of a few equations leads to it. Returns false
  /// if the whole text must be checked; then this remains what is known of the
  /// text before.
  bool amend(const std::string &newText);

  const std::vector<Problem> &problems() const { return found; }
  /// Found when first asked for: problems come before.
  const Names &names() const;
  /// Of the file itself.
  const Lines &lines() const { return allLines[mainFile]; }
  unsigned file() const { return mainFile; }
  /// Of any file of names().
  const Lines &linesOf(unsigned file) const { return allLines[file]; }
  /// The path of its file. For the prelude, a copy that was written for the
  /// editor; empty if that failed.
  std::string pathOf(unsigned file) const;
  bool reads(llvm::StringRef path) const;

  /// What inference found about a declaration: one for each member.
  std::vector<const SpecFacts::ArrayFact *>
  factsOf(const Declaration &declaration) const;
  const SpecFacts::IndexFact *indexFactOf(const Declaration &declaration) const;
  /// What decoding does with an equation, in a sentence; empty: nothing.
  llvm::StringRef stepOf(llvm::StringRef name) const;
  /// The values of the dims; those of the last text that had no mistake.
  const std::map<std::string, int64_t> &dims() const { return dimValues; }

  /// Takes over what a trial found in lines that have not changed.
  void keepTrialOf(const Analysis &last) {
    steps = last.steps;
    keepTrial(last.found, last.lines());
  }
  /// Takes over what a text with mistakes does not show any more.
  void keepFactsOf(const Analysis &last);

  /// Whether a trial can find more: there is no error so far.
  bool canBeTried() const { return isGood; }
  /// Checks both systems and lowers the model, and returns what that found, for
  /// addTrial(). Runs in a process of its own.
  std::string tryLowering() const;
  /// Takes what tryLowering() returned; nothing if a fault ended it.
  void addTrial(const std::optional<std::string> &found);

private:
  struct Message {
    llvm::SourceMgr::DiagKind kind;
    Code code;
    llvm::SMLoc loc;
    std::string text;
  };
  /// Records all further messages.
  static void listenTo(Diagnostics &diagnostics,
                       std::vector<Message> &messages);
  void check(const std::string &text, const ReadOpen &readOpen,
             const std::atomic<bool> &stop);
  void findFiles();
  static std::vector<Message> takeEarly(llvm::ArrayRef<Message> messages,
                                        unsigned count);
  llvm::SMLoc present(llvm::SMLoc loc) const;
  void addMessages(llvm::ArrayRef<Message> messages);
  void add(llvm::SourceMgr::DiagKind kind, Code code, llvm::SMLoc loc,
           const std::string &text);
  void addFixes(Problem &problem, llvm::StringRef word,
                const std::string &text);
  llvm::lsp::Range placeOf(llvm::SMLoc loc, unsigned &file) const;
  llvm::lsp::Range useOf(unsigned file) const;
  void keepTrial(llvm::ArrayRef<Problem> problems, const Lines &before);
  void dropProblemsOfTrial();

  std::string path;
  std::unique_ptr<Diagnostics> diagnostics; // owns the texts
  /// Destroyed with this: that takes as long as a part of the check.
  std::unique_ptr<fov::CheckedSpec> spec;
  std::unique_ptr<fov::Recheck> recheck; // null: the text cannot be amended
  /// Warnings of what an edit elsewhere does not change.
  std::vector<Message> early;
  bool isGood = false;
  bool stopped = false;
  bool isRepeating = false; // notes belong to a message that is there already
  mutable std::unique_ptr<Names> resolved;
  std::vector<Lines> allLines;    // of names().files()
  std::vector<std::string> paths; // of the same
  unsigned mainFile = 0;
  SpecFacts facts;
  /// By place: their numbers. Filled in when first asked for.
  mutable llvm::DenseMap<const char *, llvm::SmallVector<unsigned, 1>> factsAt;
  std::map<std::string, std::string> steps;
  std::map<std::string, int64_t> dimValues;
  /// By name: what the last text without mistakes had.
  std::map<std::string, std::vector<SpecFacts::ArrayFact>> older;
  std::vector<Problem> found;
};

} // namespace fovea::editors

#endif // FOVEA_SERVER_ANALYSIS_H
