//===- NewCommand.cpp - fovea new -----------------------------------------===//
//
// Writes a folder to start from: a spec, sample data, and a README with the
// commands that train and use the model. The files are part of the program.
//
//===----------------------------------------------------------------------===//

#include "driver/data/Files.h"
#include "driver/open/Session.h"
#include "tools/fovea/Embedded.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

namespace starters {
#include "tools/fovea/Starters.inc"
} // namespace starters

/// Prints an error about a folder or a file.
static int refuse(const llvm::Twine &text, int code) {
  llvm::errs() << "error: " << text << '\n';
  return code;
}

static int createFolder(StringRef path) {
  if (std::error_code error = llvm::sys::fs::create_directories(path))
    return refuse("cannot create '" + path + "': " + error.message(),
                  badMachine);
  return done;
}

int fovea::cli::runNew(const Arguments &arguments) {
  namespace fs = llvm::sys::fs;
  StringRef folder = arguments.folder;
  std::error_code error;
  bool isEmpty =
      !fs::exists(folder) ||
      (fs::is_directory(folder) &&
       fs::directory_iterator(folder, error) == fs::directory_iterator());
  if (!isEmpty)
    return refuse("'" + folder +
                      "' already exists and is not an empty folder; help: "
                      "choose another name",
                  badInput);
  for (const EmbeddedFile &file : starters::embeddedFiles) {
    StringRef name = file.name;
    if (!name.consume_front(arguments.kind + "/"))
      continue;
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    if (int code = createFolder(llvm::sys::path::parent_path(path));
        code != done)
      return code;
    if (int code = writeText(path.str().str(), file.text()); code != done)
      return code;
  }
  llvm::outs() << "wrote " << folder << "; next: cd " << folder
               << " && fovea train --config train.conf\n";
  return done;
}
