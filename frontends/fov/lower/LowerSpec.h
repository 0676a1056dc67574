//===- LowerSpec.h - a checked spec to a module ----------------*- C++ -*-===//

#ifndef FOVEA_FRONTENDS_FOV_LOWER_LOWERSPEC_H
#define FOVEA_FRONTENDS_FOV_LOWER_LOWERSPEC_H

#include "frontends/fov/CheckSpec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace fovea::fov {

/// Emits the systems of a checked spec, `@training` and `@decoding`, with the
/// options of `train { }` and `decode { }`. `name` is the model's.
mlir::OwningOpRef<mlir::ModuleOp> lowerSpec(CheckedSpec &spec,
                                            llvm::StringRef name,
                                            mlir::MLIRContext &context,
                                            Diagnostics &diagnostics);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_LOWER_LOWERSPEC_H
