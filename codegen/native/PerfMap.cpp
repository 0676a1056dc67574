//===- PerfMap.cpp - names kernels for perf -------------------------------===//
//
// Runs after fix-up, when addresses are final.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/PerfMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::codegen;
using namespace llvm::jitlink;

/// Opens this process's map, empty; -1 if that is not safe. Everybody may
/// write to /tmp and knows the name, so it must be this user's file, not a
/// link.
static int openMap() {
  std::string path = llvm::formatv("/tmp/perf-{0}.map", getpid());
  int file =
      open(path.c_str(),
           O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
           0600);
  struct stat status;
  if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_uid == geteuid() && status.st_nlink == 1 &&
                   ftruncate(file, 0) == 0))
    return file;
  close(file);
  return -1;
}

static llvm::Error append(LinkGraph &graph) {
  static const int file = openMap();
  if (file < 0)
    return llvm::Error::success();
  llvm::raw_fd_ostream map(file, /*shouldClose=*/false);
  for (Symbol *symbol : graph.defined_symbols())
    if (symbol->isCallable() && symbol->hasName())
      map << llvm::formatv("{0:x-} {1:x-} {2}\n",
                           symbol->getAddress().getValue(), symbol->getSize(),
                           *symbol->getName());
  // A full disk costs only the names of kernels.
  map.flush();
  map.clear_error();
  return llvm::Error::success();
}

void PerfMap::modifyPassConfig(llvm::orc::MaterializationResponsibility &,
                               LinkGraph &, PassConfiguration &config) {
  config.PostFixupPasses.push_back(append);
}
