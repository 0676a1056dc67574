//===- LspCommand.cpp - fovea lsp -----------------------------------------===//
//
// The language server that editors start. Standard output belongs to the
// protocol.
//
//===----------------------------------------------------------------------===//

#include "app/Arguments.h"
#include "app/open/Errors.h"
#include "server/Server.h"

#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

int fovea::cli::runLsp(const Arguments &) {
  if (isatty(STDIN_FILENO))
    llvm::errs() << "note: waiting for an editor on standard input; "
                    "docs/EDITORS.md shows how to set one up\n";
  if (editors::serve(STDIN_FILENO, llvm::outs()))
    return done;
  beginError() << "the input ended before the editor asked the server "
                  "to shut down; help: let an editor start 'fovea lsp' "
                  "(docs/EDITORS.md)\n";
  return badInput;
}
