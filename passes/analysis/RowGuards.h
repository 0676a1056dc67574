//===- RowGuards.h - conditions on rows that read arrays --------*- C++ -*-===//
//
// `if g[t] > 0 then y[t] else 0` looks at some rows of y only. Equations that
// have the same condition at their own indices have the same guard.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_ROWGUARDS_H
#define FOVEA_PASSES_ANALYSIS_ROWGUARDS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// A shared condition at some indices of an op.
struct RowGuard {
  ComputeOp bits;
  llvm::SmallVector<unsigned> indices;

  bool operator==(const RowGuard &other) const {
    return bits == other.bits && indices == other.indices;
  }
};
using RowGuards = llvm::SmallVector<RowGuard, 2>;

/// The shared conditions of a block. Each is an equation that exists in the
/// block as long as the table.
class RowGuardTable {
public:
  RowGuardTable() = default;
  RowGuardTable(const RowGuardTable &) = delete;
  RowGuardTable &operator=(const RowGuardTable &) = delete;
  ~RowGuardTable();

  /// Adds the guards among the parts of a condition in the body, or of the
  /// condition, of `op`. Returns whether every part is a guard.
  bool addParts(mlir::Value condition, ComputeOp op, RowGuards &guards);
  /// The same for the branches of the body of `reader` around `read`.
  void addBranches(ReadOp read, ComputeOp reader, RowGuards &guards);
  bool isShared(ComputeOp op) const { return shared.contains(op); }

private:
  std::optional<RowGuard> guardOf(mlir::Value condition, ComputeOp op);

  /// Equations of the shared conditions, each over its indices, and the same by
  /// a hash of what they compute.
  llvm::DenseSet<mlir::Operation *> shared;
  llvm::DenseMap<size_t, llvm::SmallVector<ComputeOp, 1>> byHash;
};

/// The guard of an array, which `read` reads, at the indices of its reader; or
/// the other way round. Nothing where an index has no counterpart.
std::optional<RowGuard> moved(const RowGuard &guard, ReadOp read,
                              ComputeOp reader, bool toReader);

/// The guard becomes a part of the condition of `op`.
void addCondition(ComputeOp op, const RowGuard &guard);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_ROWGUARDS_H
