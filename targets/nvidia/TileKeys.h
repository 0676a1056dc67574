//===- TileKeys.h - attention of some keys at a time ----------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_TILEKEYS_H
#define FOVEA_TARGETS_NVIDIA_TILEKEYS_H

#include "passes/analysis/Product.h"

namespace fovea::attn {

/// The keys of a tile, and their maximum size in a block's
/// memory.
constexpr int64_t keysOfTile = 64, mostBytesOfKeys = 36 << 10;

/// Returns whether tiles can compute a product of rows and keys, and one of
/// pairs and values: with rounded factors, and few numbers each.
bool isTileable(ComputeOp op);
bool isTileableRead(ComputeOp op);

/// The attention in a kernel in strips. Either rows are queries and there is a
/// softmax over the keys; or rows are queries or keys, and pairs are
/// elementwise, as in the backward pass, where the keys of a row may be
/// queries.
struct Attention {
  /// Products of rows and keys, and the elementwise ops on pairs, in order.
  llvm::SmallVector<ComputeOp> pairs;
  /// The softmax of the last of them, and its log-sum-exp; or null.
  ComputeOp weights, sums;
  /// Products of pairs with values: of all keys, a row.
  llvm::SmallVector<ComputeOp> reads;
  /// The remaining equations of each row.
  llvm::SmallVector<ComputeOp> after;

  /// The distinct multiplied parts of the keys: a product with it as the right
  /// side, and the number of values per key.
  struct Side {
    ComputeOp product;
    int64_t size;
  };
  llvm::SmallVector<Side> sides;
  llvm::SmallDenseMap<mlir::Operation *, unsigned> sideOf;

  bool isRead(ComputeOp op) const { return llvm::is_contained(reads, op); }
};

/// Nothing if the kernel is anything else, or an outside op reads its
/// pairs.
std::optional<Attention> attentionIn(KernelOp kernel);

/// What each axis of a factor is read at: -1, the row (or the key); -2, the
/// number of it; a place of the indices outside, by their number among
/// `shared`; or, below that, one place. Nothing where it is anything else.
std::optional<llvm::SmallVector<int64_t>>
rolesOf(llvm::ArrayRef<AccessIndex> axes, llvm::ArrayRef<int64_t> shared,
        unsigned row, unsigned element);

/// The position of excluded pairs: column - row.
Band bandOf(ComputeOp pairs);

/// The size of keys in a block's memory, in bf16 numbers.
int64_t bytesOfKeys(const Attention &attention);
/// The numbers of a key, zero-padded to whole instructions.
int64_t wholeTerms(int64_t size);
/// The row pitch of keys in that memory: 16 bytes off a bank
/// conflict.
constexpr int64_t spareNumbers = 8;

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_TILEKEYS_H
