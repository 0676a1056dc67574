//===- FuzzReaders.cpp - libFuzzer's way into the readers of files --------===//
//
// `fovea-fuzz-readers CORPUS --reader=NAME`; libFuzzer's options apply, and a
// file as the argument is replayed. scripts/fuzz-readers runs all of them.
//
//===----------------------------------------------------------------------===//

#include "tools/fuzz/Readers.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

using namespace fovea::fuzz;

static const Reader *chosen = nullptr;

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  for (int i = 1; i < *count; ++i) {
    llvm::StringRef argument = (*arguments)[i];
    if (argument.consume_front("--reader="))
      chosen = readerNamed(argument);
  }
  if (!chosen)
    llvm::report_fatal_error("--reader=NAME must name a reader",
                             /*gen_crash_diag=*/false);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  chosen->read(std::string(reinterpret_cast<const char *>(data), size));
  return 0;
}
