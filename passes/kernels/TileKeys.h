//===- TileKeys.h - attention of some keys at a time ----------------------===//

#ifndef FOVEA_PASSES_KERNELS_TILEKEYS_H
#define FOVEA_PASSES_KERNELS_TILEKEYS_H

#include "passes/analysis/Product.h"

namespace fovea::attn {

/// The keys of a tile, and the bytes of the memory of a block that they take at
/// most.
constexpr int64_t keysOfTile = 64, mostBytesOfKeys = 36 << 10;

/// Whether tiles multiply the factors of a product of rows and keys, and of one
/// of pairs and values: rounded, and of few numbers each.
bool isTileable(ComputeOp op);
bool isTileableRead(ComputeOp op);

/// The attention that a kernel in strips is. Rows are queries and there is a
/// softmax over the keys; or rows are those of either, and pairs are what is
/// computed of each pair by itself, as in the backward pass, where the keys of
/// a row may be queries.
struct Attention {
  /// Products of rows and keys, and what is computed of each pair, in order.
  llvm::SmallVector<ComputeOp> pairs;
  /// The softmax of the last of them, and the logarithm of its sums; or null.
  ComputeOp weights, sums;
  /// Products of pairs with values: of all keys, a row.
  llvm::SmallVector<ComputeOp> reads;
  /// What follows for each row.
  llvm::SmallVector<ComputeOp> after;

  /// What is multiplied of the keys, without repetitions: a product that it is
  /// the right side of, and the numbers that each key has there.
  struct Side {
    ComputeOp product;
    int64_t size;
  };
  llvm::SmallVector<Side> sides;
  llvm::SmallDenseMap<mlir::Operation *, unsigned> sideOf;

  bool isRead(ComputeOp op) const { return llvm::is_contained(reads, op); }
};

/// Nothing where the kernel is anything else, or somebody outside reads its
/// pairs.
std::optional<Attention> attentionIn(KernelOp kernel);

/// What each axis of a factor is read at: -1, the row (or the key); -2, the
/// number of it; a place of the indices outside, by their number among
/// `shared`; or, below that, one place. Nothing where it is anything else.
std::optional<llvm::SmallVector<int64_t>>
rolesOf(llvm::ArrayRef<AccessIndex> axes, llvm::ArrayRef<int64_t> shared,
        unsigned row, unsigned element);

/// Where pairs that a condition excludes stand: column - row.
Band bandOf(ComputeOp pairs);

/// The bytes that keys take of the memory of a block: so many of bf16.
int64_t bytesOfKeys(const Attention &attention);
/// Numbers of a key, with zeros up to whole instructions.
int64_t wholeTerms(int64_t size);
/// Between the rows of keys in that memory: 16 bytes away from where banks
/// would meet.
constexpr int64_t spareNumbers = 8;

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_TILEKEYS_H
