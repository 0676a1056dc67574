//===- Frontend.h - a spec to a module of the attn dialect ----------------===//
//
// The whole front end as one call.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_FRONTEND_H
#define FOVEA_FRONTENDS_FOV_FRONTEND_H

#include "frontends/fov/Description.h"
#include "frontends/fov/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace fovea {

struct Model : Description {
  /// `@training` and `@decoding` (docs/IR.md), with the options of the spec.
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Reads, parses, checks and lowers the spec at `path`. Null on an error
/// (diagnosed). `module` is null if the spec has latent choices that cannot be
/// executed yet.
std::unique_ptr<Model> compileSpec(llvm::StringRef path,
                                   const FrontendOptions &options,
                                   mlir::MLIRContext &context,
                                   Diagnostics &diagnostics);

/// The same for a text; messages use `name` for it.
std::unique_ptr<Model> compileText(llvm::StringRef text, llvm::StringRef name,
                                   const FrontendOptions &options,
                                   mlir::MLIRContext &context,
                                   Diagnostics &diagnostics);

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_FRONTEND_H
