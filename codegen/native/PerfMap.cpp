//===- PerfMap.cpp - names kernels for perf -------------------------------===//
//
// Writes after fix-up, when addresses are final.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/PerfMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"

using namespace fovea::codegen;
using namespace llvm::jitlink;

static llvm::Error append(LinkGraph &graph) {
  std::string path =
      llvm::formatv("/tmp/perf-{0}.map", llvm::sys::Process::getProcessId());
  std::error_code error;
  llvm::raw_fd_ostream map(path, error, llvm::sys::fs::OF_Append);
  if (error)
    return llvm::Error::success();
  for (Symbol *symbol : graph.defined_symbols())
    if (symbol->isCallable() && symbol->hasName())
      map << llvm::formatv("{0:x-} {1:x-} {2}\n",
                           symbol->getAddress().getValue(), symbol->getSize(),
                           *symbol->getName());
  return llvm::Error::success();
}

void PerfMap::modifyPassConfig(llvm::orc::MaterializationResponsibility &,
                               LinkGraph &, PassConfiguration &config) {
  config.PostFixupPasses.push_back(append);
}
