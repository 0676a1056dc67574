//===- LspCommand.cpp - fovea lsp -----------------------------------------===//
//
// The language server that editors start. Standard output belongs to the
// protocol.
//
//===----------------------------------------------------------------------===//

#include "driver/Arguments.h"
#include "editors/server/Server.h"

#include <unistd.h>

int fovea::cli::runLsp(const Arguments &) {
  return editors::serve(STDIN_FILENO, llvm::outs()) ? done : badInput;
}
