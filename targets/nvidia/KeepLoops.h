//===- KeepLoops.h - loops that stay on a device ----------------*- C++ -*-===//

#ifndef FOVEA_TARGETS_NVIDIA_KEEPLOOPS_H
#define FOVEA_TARGETS_NVIDIA_KEEPLOOPS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns whether `attn-keep-loops` made all steps of a loop one launch.
bool staysOnDevice(ScanOp loop);

/// The time of an op within the step of such a loop. All blocks
/// synchronise between two phases. Ops in one turn of a phase are
/// independent; a block's work in a turn depends only on its own work in
/// earlier turns.
struct StepTime {
  int64_t phase = 0, turn = 0;

  auto operator<=>(const StepTime &) const = default;
};
StepTime timeOf(mlir::Operation *op);

/// Returns whether a block computes each example of an op in such a loop; it is
/// the same block for all such ops.
bool hasBlockOfExample(mlir::Operation *op);

/// Whether the last phase of a step lists the rows of the next step's
/// products.
bool listsAhead(ScanOp loop);

/// A product of such a loop with loop-invariant weights: its columns, in strips
/// of small tiles, stay on the chip from the first step to the last. The strips
/// of all such products are numbered and dealt to groups of blocks; the blocks
/// of a group share strips and take turns at rows. A block keeps as many terms
/// of its strips, in order, as fit into its memory. The source of a read
/// changes no bits.
struct KeptColumns {
  /// The number of its first strip; the number of its strips, and of their
  /// terms.
  int64_t first = 0, strips = 0, terms = 0;
};
std::optional<KeptColumns> keptColumnsOf(ComputeOp op);
/// The number of blocks in a group: with 64 examples each has a tile of rows.
constexpr int64_t blocksOfGroup = 4;
/// The granularity of a strip's capacity, in terms.
constexpr int64_t termsOfPiece = 32;
/// The size of a block's memory for kept weights; 0: none.
int64_t keptBytesOf(ScanOp loop, int64_t bytesOfNumber);

/// Checks that an op of a step waits for what it needs. Checks that the weights
/// and lists of all loops of a program stay on the device. Emits an error
/// otherwise.
mlir::LogicalResult verifyKeptLoops(ProgramOp program);

/// A launch has 4096 bytes of parameters: the frame slots that its steps read,
/// and the number of steps.
constexpr int64_t mostSlotsOfLoop = 500;

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_KEEPLOOPS_H
