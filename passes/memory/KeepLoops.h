//===- KeepLoops.h - loops that stay on a device ----------------*- C++ -*-===//

#ifndef FOVEA_PASSES_MEMORY_KEEPLOOPS_H
#define FOVEA_PASSES_MEMORY_KEEPLOOPS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Whether `attn-keep-loops` found that all steps of a loop are one launch.
bool staysOnDevice(ScanOp loop);

/// When an op of such a loop is computed in its step. Between two phases all
/// blocks wait for each other. In a phase those of one turn do not need each
/// other; what a block does in a turn needs what the same block did in those
/// before.
struct StepTime {
  int64_t phase = 0, turn = 0;

  auto operator<=>(const StepTime &) const = default;
};
StepTime timeOf(mlir::Operation *op);

/// Whether each example of an op of such a loop is computed by a block, which
/// is the same for all such ops.
bool hasBlockOfExample(mlir::Operation *op);

/// Whether the rows of the products of a step are listed in the last phase of
/// the step before.
bool listsAhead(ScanOp loop);

/// A launch of a loop gets 4096 bytes: the slots of the frame that its steps
/// read, and how many steps there are.
constexpr int64_t mostSlotsOfLoop = 500;

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_KEEPLOOPS_H
