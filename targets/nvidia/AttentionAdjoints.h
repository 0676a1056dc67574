//===- AttentionAdjoints.h - the adjoints of an attention -------*- C++ -*-===//
//
// The analysis of AttentionAdjoints.cpp and the input of SplitAdjoints.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TARGETS_NVIDIA_ATTENTIONADJOINTS_H
#define FOVEA_TARGETS_NVIDIA_ATTENTIONADJOINTS_H

#include "passes/analysis/Product.h"

namespace fovea::attn {

/// The index of the weights that each index of an equation corresponds to; -1:
/// none of them.
using Numbers = llvm::SmallVector<int>;

/// A softmax over the keys of each query, its inputs, and all its readers.
/// Indices are those of the weights.
class AttentionAdjoints {
public:
  explicit AttentionAdjoints(ComputeOp weights) : weights(weights) {}

  bool find();
  void split();

private:
  bool findScores();
  bool takeReaders(ComputeOp pair);
  bool take(ComputeOp reader);
  void takeProducts(ComputeOp reader, const Numbers &numbers);
  std::optional<Numbers> numbersOf(ComputeOp op);
  bool isBackward(mlir::Operation *pair) const {
    return pairs.contains(pair) && !forward.contains(pair);
  }
  bool isImplied(ComputeOp op, const Numbers &numbers) const;
  bool isProductOfRead(ComputeOp sum);
  bool findPlace();

  bool vanishes(ComputeOp op);
  void nameScore();
  void keepSums();
  void replaceSum(ComputeOp sum);
  mlir::Value computed(mlir::OpBuilder &builder, ComputeOp op, bool isTurned);
  void copyBody(ComputeOp from, ComputeOp to, llvm::ArrayRef<unsigned> order,
                bool withCondition);
  void redirect(ComputeOp op, bool isTurned);
  void move(llvm::ArrayRef<ComputeOp> products, bool isTurned);
  llvm::SmallVector<mlir::Operation *>
  neededBy(llvm::ArrayRef<ComputeOp> products) const;

  unsigned axisOf(mlir::Operation *pair, unsigned number) const {
    return llvm::find(pairs.find(pair)->second, int(number)) -
           pairs.find(pair)->second.begin();
  }

  ComputeOp weights;
  unsigned row = 0, column = 0;
  /// Arrays of pairs, and the index of each of their axes.
  llvm::MapVector<mlir::Operation *, Numbers> pairs;
  llvm::DenseSet<mlir::Operation *> forward;
  /// Sums over the keys, of weights and of other pairs; sums over the queries.
  llvm::SmallVector<ComputeOp> reads, byQueries, byKeys;
  /// The subtrahend in the adjoint of the softmax.
  llvm::SmallVector<ComputeOp> taken;
  ComputeOp score, sums;
  mlir::Operation *place = nullptr; // after all that both kernels read
  llvm::DenseMap<mlir::Value, mlir::Value> copies;
};

/// The reads whose product the body of an equation is.
std::pair<ReadOp, ReadOp> factorsOf(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_ATTENTIONADJOINTS_H
