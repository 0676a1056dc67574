//===- NewCommand.cpp - fovea new -----------------------------------------===//
//
// Writes a folder to start from: a spec, sample data, and a README with the
// commands that train and use the model. The files are part of the program.
//
//===----------------------------------------------------------------------===//

#include "app/open/Errors.h"
#include "app/open/Session.h"
#include "tools/fovea/Embedded.h"
#include "tools/fovea/NewFolder.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

namespace starters {
#include "tools/fovea/Starters.inc"
} // namespace starters

/// Writes the files of a kind.
static runtime::Status writeFolder(const std::string &path,
                                   const std::string &kind) {
  NewFolder folder;
  runtime::Status status = folder.open(path);
  for (const EmbeddedFile &embedded : starters::embeddedFiles) {
    StringRef name = embedded.name;
    if (status.failed() || !name.consume_front(kind + "/"))
      continue;
    NewFile *file = nullptr;
    status = folder.add(name.str(), file);
    if (status.failed())
      break;
    file->write(embedded.text());
    status = file->close();
  }
  return status.failed() ? status : folder.finish();
}

int fovea::cli::runNew(const Arguments &arguments) {
  runtime::Status status = writeFolder(arguments.folder, arguments.kind);
  if (status.failed()) {
    beginError() << status.text() << '\n';
    return status.isOfMachine() ? badMachine : badInput;
  }
  llvm::outs() << "wrote " << arguments.folder << "; next: cd "
               << arguments.folder << " && fovea train --config train.conf\n";
  return done;
}
