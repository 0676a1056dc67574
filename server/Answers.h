//===- Answers.h - what an editor asks about a file -------------*- C++ -*-===//
//
// Each question of the protocol as one function of what is known of a file
// (Analysis.h). The server (Server.cpp) finds the file and sends the answer.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_ANSWERS_H
#define FOVEA_SERVER_ANSWERS_H

#include "server/Analysis.h"

namespace fovea::editors {

/// What is shown of the name at a place; nothing where there is none.
std::optional<llvm::lsp::Hover> hoverAt(const Analysis &analysis,
                                        const llvm::lsp::Position &position);

std::vector<llvm::lsp::Location>
definitionsAt(const Analysis &analysis, const llvm::lsp::Position &position);

std::vector<llvm::lsp::Location>
referencesAt(const Analysis &analysis, const llvm::lsp::Position &position,
             bool withDeclaration);

/// The range that can be renamed at a place. `file` is the file of the
/// declaration. An error, in one sentence, if it cannot.
struct Renaming {
  std::string path;        // of the file that declares it
  size_t offset = 0;       // of the declaration in it
  llvm::StringRef written; // at the place
};
llvm::Expected<Renaming> renamingAt(const Analysis &analysis,
                                    const llvm::lsp::Position &position);
/// Adds the edits of `analysis` for all of a name. An error where the new name
/// cannot be one, or has a meaning already.
llvm::Error addRenames(const Analysis &analysis, const Renaming &renaming,
                       llvm::StringRef newName, llvm::lsp::WorkspaceEdit &edit);

std::vector<llvm::lsp::CompletionItem>
completionsAt(const Analysis &analysis, const llvm::lsp::Position &position);

/// The def of the call around a place, and which of its parameters is written
/// there.
std::optional<llvm::lsp::SignatureHelp>
signatureAt(const Analysis &analysis, const llvm::lsp::Position &position);

/// A place in the file that has the name at a position.
struct Highlight {
  llvm::lsp::Range range;
  bool declares;
};
std::vector<Highlight> highlightsAt(const Analysis &analysis,
                                    const llvm::lsp::Position &position);

/// The words of a file, five numbers each, as the protocol's semantic tokens
/// are encoded; and the names of the kinds and marks in them.
std::vector<int64_t> wordsOf(const Analysis &analysis);
llvm::ArrayRef<llvm::StringRef> wordKinds();
llvm::ArrayRef<llvm::StringRef> wordMarks();

std::vector<llvm::lsp::DocumentSymbol> symbolsOf(const Analysis &analysis);

/// A symbol of a file, or of one that it uses.
struct FoundSymbol {
  std::string name, model;
  llvm::lsp::SymbolKind kind;
  llvm::lsp::Location location;
};
/// The symbols whose names have the letters of `query` in this order.
std::vector<FoundSymbol> findSymbols(const Analysis &analysis,
                                     llvm::StringRef query);

std::vector<llvm::lsp::InlayHint> hintsOf(const Analysis &analysis,
                                          const llvm::lsp::Range &range);

/// First and last lines of a range that can be folded; `kind` is a kind of the
/// protocol.
struct Folding {
  int first, last;
  llvm::StringRef kind;
};
std::vector<Folding> foldingsOf(const Analysis &analysis);

/// Mendings of what is wrong in a range.
std::vector<llvm::lsp::CodeAction> actionsIn(const Analysis &analysis,
                                             const llvm::lsp::URIForFile &uri,
                                             const llvm::lsp::Range &range);

} // namespace fovea::editors

#endif // FOVEA_SERVER_ANSWERS_H
