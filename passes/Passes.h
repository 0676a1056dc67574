//===- Passes.h - every pass of the compiler ------------------------------===//
//
// Declared from passes/Passes.td, where each is described.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_PASSES_H
#define FOVEA_PASSES_PASSES_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fovea::attn {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace fovea::attn

#endif // FOVEA_PASSES_PASSES_H
