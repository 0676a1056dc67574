//===- Explain.h - the schedule in words ----------------------------------===//

#ifndef FOVEA_PASSES_SCHEDULE_EXPLAIN_H
#define FOVEA_PASSES_SCHEDULE_EXPLAIN_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace fovea::attn {

/// An equation of the front end that a derived system does not compute.
struct UnreadEquation {
  std::string system, name;
  unsigned line;
};

/// The equations that neither the objective nor, in decoding, a generated name
/// needs, and that nobody asked for: `gets` of the loss, `shows` of the
/// decoder. To be called before the derivation, which drops them.
std::vector<UnreadEquation> findUnread(mlir::ModuleOp module,
                                       llvm::ArrayRef<std::string> gets,
                                       llvm::ArrayRef<std::string> shows);

/// Prints how the systems of a module are scheduled: which equations are
/// computed over all positions at once, why a loop is a loop, what is dead, and
/// for decoders what is computed before, at every step and afterwards, and what
/// the steps carry. To be called before `attn-schedule`; systems without a
/// schedule are left out (the pass says why). `unread` is what else is dead.
void explainSchedule(mlir::ModuleOp module,
                     llvm::ArrayRef<UnreadEquation> unread,
                     llvm::raw_ostream &out);

} // namespace fovea::attn

#endif // FOVEA_PASSES_SCHEDULE_EXPLAIN_H
