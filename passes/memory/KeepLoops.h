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

/// A product of such a loop whose weights no step writes: its columns, in
/// strips of small tiles, stay on the chip from the first step to the last. The
/// strips of all such products of a loop are numbered; groups of blocks have
/// them by turns, and the blocks of a group have the same ones and take turns
/// in the rows. A block keeps as many terms of its strips, in their order, as
/// it has memory for. What is read from where changes no bits.
struct KeptColumns {
  /// The number of its first strip; how many it has, and of how many terms.
  int64_t first = 0, strips = 0, terms = 0;
};
std::optional<KeptColumns> keptColumnsOf(ComputeOp op);
/// So many blocks are a group: with 64 examples each has a tile of rows.
constexpr int64_t blocksOfGroup = 4;
/// A strip has room for a multiple of so many terms.
constexpr int64_t termsOfPiece = 32;
/// The bytes of a block for that in a loop that keeps any; 0: it keeps none.
int64_t keptBytesOf(ScanOp loop, int64_t bytesOfNumber);

/// A launch of a loop gets 4096 bytes: the slots of the frame that its steps
/// read, and how many steps there are.
constexpr int64_t mostSlotsOfLoop = 500;

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_KEEPLOOPS_H
