//===- Derive.h - what the two derivations share --------------------------===//

#ifndef FOVEA_PASSES_DERIVE_DERIVE_H
#define FOVEA_PASSES_DERIVE_DERIVE_H

#include "dialect/AttnForward.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>

namespace fovea::attn {

/// On an observed choice of `@decoding`: its data are continued; on a generated
/// one: it is the row after the given ones.
inline constexpr char continuedName[] = "attn.continued";

/// Fails, with an error at each, when the system has latent choices: a choice
/// with a result in `@training`, a choice marked `latent` in `@decoding`.
llvm::LogicalResult refuseLatents(SystemOp system);

/// Returns the schedule that `key` of a choice's treatment names; null: it is a
/// constant.
mlir::Value scheduleOf(ChoiceOp choice, llvm::StringRef key);

/// The state that estimators of `@training`, if a module has it, pass between
/// updates. Each state has the name of the data that takes it, the name of the
/// output that adds to it, and the remaining share.
std::map<std::string, double> statesOf(mlir::ModuleOp module);

/// `NAME ~ policy(..)` of train { }.
struct Policy {
  std::string target;
  /// The reward: a metric or an equation; the other one is empty.
  std::string metric, equation;
  std::string baseline; // others, greedy or none
  int64_t samples = 1;  // of each example
  double likelihood = 0;
  mlir::Location place;
};
/// The policy of `@training`, if it has one.
std::optional<Policy> policyOf(mlir::ModuleOp module);
/// Whether `choice` is trained as a policy.
bool isPolicy(ChoiceOp choice);

/// The names of the equations that no other equation reads, in source
/// order. Mutually recursive equations that nothing else reads all
/// count.
std::vector<std::string> unreadEquations(SystemOp system);

/// The equations that `@loss` returns: `asked`, or the unread ones if nothing
/// is requested and there is no objective.
std::vector<std::string> equationsToGet(SystemOp training,
                                        llvm::ArrayRef<std::string> asked);

/// Makes the equations called `names` outputs and erases the others. An unknown
/// name is an error.
llvm::LogicalResult resolveEquations(SystemOp system,
                                     llvm::ArrayRef<std::string> names);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_DERIVE_H
