//===- Analysis.h - all that is known of one file ---------------*- C++ -*-===//
//
// Checks the text of an editor as `fovea check` does, and keeps what was found:
// what is wrong, which names mean what, their shapes, and what the decoder does
// with them. The front end runs at once. Lowering, which takes longer and finds
// the rest, is a second step.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_ANALYSIS_H
#define FOVEA_SERVER_ANALYSIS_H

#include "app/open/Session.h"
#include "server/Names.h"
#include "server/Text.h"

#include <functional>

namespace fovea::editors {

/// The text of an open file; nothing where the disk counts.
using ReadOpen =
    std::function<std::optional<std::string>(const std::string &path)>;

/// What was said about a place, and what would mend it.
struct Problem {
  llvm::lsp::Diagnostic diagnostic;
  Code code = Code::none;
  struct Fix {
    std::string title;
    llvm::lsp::TextEdit edit;
  };
  std::vector<Fix> fixes;
  bool isOfTrial = false; // lowering found it
};

class Analysis {
public:
  /// Runs the front end over `text`, the file at `path` (absolute).
  Analysis(const std::string &path, const std::string &text,
           const ReadOpen &readOpen);

  const std::vector<Problem> &problems() const { return found; }
  const Names &names() const { return *resolved; }
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

  /// Takes over what a text with mistakes does not show any more, and what
  /// lowering found in lines that have not changed.
  void keepFrom(const Analysis &last);

  /// Whether lowering can find more: the front end found no error.
  bool canBeTried() const { return model != nullptr; }
  /// Lowers the model, and returns what that found, for addTrial(). Consumes
  /// the model.
  std::string tryLowering();
  /// Takes what tryLowering() returned; nothing if a fault ended it.
  void addTrial(const std::optional<std::string> &found);

private:
  void listen();
  void addMessages();
  void check(const std::string &text, const ReadOpen &readOpen);
  void resolve();
  void add(llvm::SourceMgr::DiagKind kind, Code code, llvm::SMLoc loc,
           const std::string &text);
  void addFixes(Problem &problem, llvm::StringRef word, llvm::SMLoc loc,
                const std::string &text);
  llvm::lsp::Range placeOf(llvm::SMLoc loc, unsigned &file) const;
  llvm::lsp::Range useOf(unsigned file) const;
  void keepTrialOf(const Analysis &last);
  void dropProblemsOfTrial();
  std::string keyOf(llvm::StringRef name, unsigned file) const;

  std::string path;
  struct Message {
    llvm::SourceMgr::DiagKind kind;
    Code code;
    llvm::SMLoc loc;
    std::string text;
  };
  std::vector<Message> messages;
  cli::Arguments arguments;
  std::unique_ptr<cli::Session> session; // owns the texts
  std::unique_ptr<Model> model;          // until lowering has been tried
  std::unique_ptr<Names> resolved;
  std::vector<Lines> allLines;    // of names().files()
  std::vector<std::string> paths; // of the same
  unsigned mainFile = 0;
  SpecFacts facts;
  std::map<std::string, std::string> steps;
  std::map<std::string, int64_t> dimValues;
  /// By name: what the last text without mistakes had.
  std::map<std::string, std::vector<SpecFacts::ArrayFact>> older;
  std::vector<Problem> found;
};

} // namespace fovea::editors

#endif // FOVEA_SERVER_ANALYSIS_H
