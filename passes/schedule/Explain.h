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
/// needs, and that were not requested: `gets` of the loss, `shows` of the
/// decoder. Call it before the derivation, which drops them.
std::vector<UnreadEquation> findUnread(mlir::ModuleOp module,
                                       llvm::ArrayRef<std::string> gets,
                                       llvm::ArrayRef<std::string> shows);

/// Prints the schedule of a module's systems: which equations are computed over
/// all positions at once, why a loop is a loop, and dead equations. For
/// decoders, also which are computed before, at every step and afterwards, and
/// the state between steps. Call it before `attn-schedule`. Systems without a
/// schedule are omitted (the pass reports why). `unread` lists further dead
/// equations.
void explainSchedule(mlir::ModuleOp module,
                     llvm::ArrayRef<UnreadEquation> unread,
                     llvm::raw_ostream &out);

} // namespace fovea::attn

#endif // FOVEA_PASSES_SCHEDULE_EXPLAIN_H
