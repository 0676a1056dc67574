//===- ReplayReaders.cpp - kept inputs of the readers of files ------------===//
//
// `fovea-replay FOLDER`: FOLDER/READER/FILE.. are read by the reader of that
// name. A crash is the failure.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/OpenFile.h"
#include "tools/fuzz/Readers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace fovea;

/// The paths in a folder, in order.
static std::set<std::string> pathsIn(const llvm::Twine &folder) {
  std::set<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error))
    paths.insert(it->path());
  return paths;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: fovea-replay FOLDER\n";
    return 2;
  }
  for (const std::string &folder : pathsIn(argv[1])) {
    const fuzz::Reader *reader =
        fuzz::readerNamed(llvm::sys::path::filename(folder));
    if (!reader) {
      llvm::errs() << "error: no reader is called '" << folder << "'\n";
      return 1;
    }
    size_t count = 0;
    for (const std::string &path : pathsIn(folder)) {
      std::string bytes, why;
      if (!runtime::readWhole(path, bytes, why)) {
        llvm::errs() << "error: cannot read '" << path << "': " << why << '\n';
        return 1;
      }
      llvm::errs() << path << '\n';
      reader->read(bytes);
      ++count;
    }
    llvm::outs() << reader->name << ": " << count << " files\n";
  }
  return 0;
}
