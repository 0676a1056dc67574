//===- AttentionCopies.h - what attention reads as copies -------*- C++ -*-===//
//
// Where the blocks of a machine fetch tiles by an instruction, what an
// attention of some keys at a time multiplies of its rows and of its keys is
// copied ahead of it: as bf16, for each example and each place of the indices
// outside, in tiles as Copies.h says. Kernels that read an array in the same
// way share the copy, as the forward and the backward pass do.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_ATTENTIONCOPIES_H
#define FOVEA_PASSES_MEMORY_ATTENTIONCOPIES_H

#include "passes/kernels/TileKeys.h"
#include "passes/memory/Copies.h"

namespace fovea::attn {

/// The machine whose blocks fetch tiles and multiply by groups of four warps.
constexpr llvm::StringLiteral machineOfGroups = "sm_90a";

/// A machine has so many rows of an attention in a block.
constexpr int64_t rowsOfAttention = 128;

/// Some numbers of each row of an array, which may be keys; `count` says how
/// many there are.
struct CopiedRows {
  mlir::Value array;
  mlir::StringAttr count;
  int64_t size = 0;
  /// What each axis of the array is read at (rolesOf), and the extents of the
  /// indices outside.
  llvm::SmallVector<int64_t> roles;
  llvm::SmallVector<mlir::Attribute> outer;

  bool operator==(const CopiedRows &other) const = default;
};

/// The rows of a product that are no pairs, and its keys; nothing where they
/// cannot be copied.
std::optional<CopiedRows> rowsOf(ComputeOp product);
std::optional<CopiedRows> keysOf(const Attention &attention, ComputeOp product);
CopiedSide sideOf(const CopiedRows &rows);

/// Whether an attention reads copies of all that it multiplies: where that is
/// less than what it is a copy of, and fits on the chip.
bool readsCopies(KernelOp kernel);

/// The length that says how many tiles of rows a length is.
mlir::StringAttr tilesOf(mlir::StringAttr length);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_ATTENTIONCOPIES_H
