//===- Frontend.cpp - a spec to a module of the attn dialect --------------===//

#include "frontends/fov/Frontend.h"

std::unique_ptr<fovea::Model>
fovea::compileSpec(llvm::StringRef path, const FrontendOptions &options,
                   mlir::MLIRContext &context, Diagnostics &diagnostics) {
  diagnostics.error({}, "the front end cannot lower a spec yet");
  return nullptr;
}
