//===- FuzzCompile.cpp - libFuzzer's way through the front end ------------===//
//
// As FuzzParse.cpp, but also compiles and runs every pass.
// `use` finds nothing: the texts stand alone.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "tools/fuzz/Target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A context keeps every type and attribute that was ever made in it.
  constexpr unsigned textsPerContext = 100;
  static std::optional<mlir::MLIRContext> context;
  static unsigned tried = 0;
  if (tried++ % textsPerContext == 0)
    context.emplace(mlir::MLIRContext::Threading::DISABLED);
  fovea::fuzz::tryText(
      llvm::StringRef(reinterpret_cast<const char *>(data), size), &*context);
  return 0;
}
