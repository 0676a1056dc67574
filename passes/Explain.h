//===- Explain.h - the schedule in words ----------------------------------===//

#ifndef FOVEA_PASSES_EXPLAIN_H
#define FOVEA_PASSES_EXPLAIN_H

#include "mlir/IR/BuiltinOps.h"

namespace fovea::attn {

/// Prints how the systems of a module are scheduled: which equations are
/// computed over all positions at once, why a loop is a loop, what is dead,
/// and for decoders what is computed before, at every step and behind, and
/// what the steps carry. To be called before `attn-schedule`; systems without
/// a schedule are left out (the pass says why).
void explainSchedule(mlir::ModuleOp module, llvm::raw_ostream &out);

} // namespace fovea::attn

#endif // FOVEA_PASSES_EXPLAIN_H
