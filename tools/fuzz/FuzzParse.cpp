//===- FuzzParse.cpp - libFuzzer's way into the front end -----------------===//
//
// Built with -DFOVEA_FUZZ=ON. `fovea-fuzz-parse CORPUS` with the models as the
// first corpus; libFuzzer's options apply.
//
//===----------------------------------------------------------------------===//

#include "tools/fuzz/Target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fovea::fuzz::tryText(
      llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}
