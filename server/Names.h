//===- Names.h - which name means which declaration -------------*- C++ -*-===//
//
// The names of a file, of what it uses and of the prelude, found in the syntax
// alone: they are there while the file has mistakes elsewhere. What a name's
// shape is, is found by the compiler (frontends/fov/Description.h: SpecFacts).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_NAMES_H
#define FOVEA_SERVER_NAMES_H

#include "frontends/fov/syntax/Ast.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fovea::editors {

struct Declaration {
  enum Kind {
    Model,
    Dim,
    Const,
    Vocabulary,
    Data,
    Length,
    Param,
    Def,
    Size,
    Argument,
    Equation,
    Index,
    Import,
    Label
  } kind;
  llvm::StringRef name;
  unsigned file;
  /// Its declaration, or the equation or reduction of an index; null for a
  /// model.
  const ast::Statement *statement = nullptr;
  /// The def that it is local to; null: none.
  const ast::Statement *def = nullptr;
  /// Each place that declares or defines it, as the files are read.
  llvm::SmallVector<llvm::StringRef, 1> places = {};
};

/// A name as it is written somewhere.
struct Occurrence {
  llvm::StringRef text;
  unsigned declaration;
};

class Names {
public:
  struct File {
    llvm::StringRef text;
    std::unique_ptr<ast::File> ast;
    /// The file of each `use`, by its model; of the others -1.
    std::map<std::string, int> used;
  };

  /// Resolves the names of `files`: the prelude first, and each file after the
  /// files that it uses.
  explicit Names(std::vector<File> files);

  const std::vector<File> &files() const { return all; }
  const std::vector<Declaration> &declarations() const { return declared; }
  /// In the order of the places in memory.
  const std::vector<Occurrence> &occurrences() const { return written; }
  /// The name at a place, or just before it; null when there is none.
  const Occurrence *at(const char *place) const;
  /// The declarations that can be named at a place of a file.
  std::vector<unsigned> visibleAt(unsigned file, const char *place) const;
  /// The names after a dot: of an import, or of a module. Empty if
  /// `declaration` is neither.
  std::vector<unsigned> membersOf(unsigned declaration) const;
  /// The def that a declaration is, or is an instance of; null: none.
  const ast::Statement *defOf(unsigned declaration) const;

private:
  friend class Resolver;
  std::vector<File> all;
  std::vector<Declaration> declared;
  std::vector<Occurrence> written;
  /// What the files declare for themselves, with what they include.
  std::vector<std::map<llvm::StringRef, unsigned>> scopes;
  /// The declarations in the scope of each def.
  std::map<const ast::Statement *, std::map<llvm::StringRef, unsigned>> defs;
};

} // namespace fovea::editors

#endif // FOVEA_SERVER_NAMES_H
