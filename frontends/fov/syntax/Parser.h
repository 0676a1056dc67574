//===- Parser.h - .fov text to an ast::File -------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_SYNTAX_PARSER_H
#define FOVEA_FRONTENDS_FOV_SYNTAX_PARSER_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/syntax/Ast.h"

namespace fovea {

/// Parses a text that `diagnostics` owns (Diagnostics::addSource). Reports
/// every independent error and skips to the next statement after each; the
/// returned file contains the correct statements. Any bytes are handled.
/// Grammar: docs/LANGUAGE.md. Stops before the next model of the same file
/// (`ast::File::rest`).
std::unique_ptr<ast::File> parse(llvm::StringRef text,
                                 Diagnostics &diagnostics);

/// `--emit=ast`: the tree as indented text, one node a line.
void printAst(const ast::File &file, llvm::raw_ostream &out);

/// `fovea fmt`: the text in the project's layout. Keeps comments and blank
/// lines (at most one in a row), aligns nothing that the author did not align,
/// and is idempotent. Empty when the text does not parse (diagnosed).
std::string formatSource(llvm::StringRef text, Diagnostics &diagnostics);

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_SYNTAX_PARSER_H
