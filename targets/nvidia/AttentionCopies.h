//===- AttentionCopies.h - what attention reads as copies -------*- C++ -*-===//
//
// If warp groups compute a key-tiled attention (Groups.h), its factors are
// copied before it: as bf16, for each example and each
// place of the outer indices, in tiles as in Copies.h. Kernels that read an
// array in the same way share the copy, such as the forward and the backward
// pass.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_ATTENTIONCOPIES_H
#define FOVEA_TARGETS_NVIDIA_ATTENTIONCOPIES_H

#include "passes/memory/Copies.h"
#include "targets/nvidia/Target.h"
#include "targets/nvidia/TileKeys.h"

namespace fovea::attn {

/// The number of attention rows in a block.
constexpr int64_t rowsOfAttention = 128;

/// Some numbers of each row of an array, or of each key; `count` is the number
/// of rows.
struct CopiedRows {
  mlir::Value array;
  mlir::StringAttr count;
  int64_t size = 0;
  /// The index of each axis of the array (rolesOf), and the extents of the
  /// outer indices.
  llvm::SmallVector<int64_t> roles;
  llvm::SmallVector<mlir::Attribute> outer;
};

/// The rows of a product other than pairs, and its keys; nothing if they cannot
/// be copied.
std::optional<CopiedRows> rowsOf(ComputeOp product);
std::optional<CopiedRows> keysOf(const Attention &attention, ComputeOp product);
CopiedSide sideOf(const CopiedRows &rows);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_ATTENTIONCOPIES_H
