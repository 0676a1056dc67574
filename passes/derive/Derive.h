//===- Derive.h - what the two derivations share --------------------------===//

#ifndef FOVEA_PASSES_DERIVE_DERIVE_H
#define FOVEA_PASSES_DERIVE_DERIVE_H

#include "dialect/AttnDialect.h"

#include <map>

namespace fovea::attn {

/// Fails, with an error at each, when the system has latent choices: a choice
/// with a result in `@training`, a choice marked `latent` in `@decoding`.
llvm::LogicalResult refuseLatents(SystemOp system);

/// What the equation gives that `key` of how `choice` is treated names; null:
/// it is no schedule.
mlir::Value scheduleOf(ChoiceOp choice, llvm::StringRef key);

/// What the estimators of `@training` leave from one update to the next, by the
/// name of the data that takes it, and of the output that adds to it: the share
/// of it that remains.
std::map<std::string, double> statesOf(SystemOp training);

/// The names of the equations that no other equation reads, in source order.
/// Equations that read one another, and that nothing else reads, are all of
/// them.
std::vector<std::string> unreadEquations(SystemOp system);

/// The equations that `@loss` gives: `asked`, or those that nothing reads when
/// nothing is asked for and there is no objective.
std::vector<std::string> equationsToGet(SystemOp training,
                                        llvm::ArrayRef<std::string> asked);

/// Turns the equations called `names` into outputs and erases the others. A
/// name that no equation has is an error.
llvm::LogicalResult resolveEquations(SystemOp system,
                                     llvm::ArrayRef<std::string> names);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_DERIVE_H
