//===- Passes.h - create and register the passes --------------------------===//
//
// Passes.td describes each pass; Pipeline.h puts them in order.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_PASSES_H
#define FOVEA_PASSES_PASSES_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fovea::attn {

/// Pipeline.h has the phases; passes need not be built again for them.
enum class Phase : int;

/// The producers that `attn-inline` inlines.
enum class InlineMode {
  /// Producers with more indices than any array that they read.
  expansions,
  /// Also producers with one reader that has as many indices.
  all
};

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// Removes from a system every array that no output, choice, penalty, equation
/// or mark needs, including recurrences that feed only themselves. With
/// `withLatents`, also removes the latent choices among them.
void eraseDeadArrays(SystemOp system, bool withLatents = false);

} // namespace fovea::attn

#endif // FOVEA_PASSES_PASSES_H
