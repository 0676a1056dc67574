//===- GatheredProduct.h - convolutions are matrix products -----*- C++ -*-===//
//
// A sum of products of two reads, one at its own indices and the other
// anywhere: a convolution, or one of its adjoints. It is a matrix product if
// the other read consists of runs of consecutive elements, which are gathered
// during the multiplication.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_GATHEREDPRODUCT_H
#define FOVEA_PASSES_ANALYSIS_GATHEREDPRODUCT_H

#include "passes/analysis/Access.h"

namespace fovea::attn {

/// The two factors of such a sum, and the role of each index.
struct GatheredFactors {
  unsigned left = 0; // operand of the body's product that is A, the gathered
  ReadOp gathered, plain;
  /// A sum over the examples: the gradient of weights. Otherwise all examples'
  /// rows times weights.
  bool isOverExamples = false;
  /// Indices of the op, in order, except `run`, which is last: it is one of the
  /// terms, or one of the rows in a sum over the examples.
  llvm::SmallVector<unsigned> rows, columns, terms;
  unsigned run = 0;
};

/// Returns the product in `op`, if it is large enough, whatever the order of
/// its indices and axes. With `mayBeWhole`, also if the first factor is read at
/// its own indices and is multiplied with weights over one term.
std::optional<GatheredFactors> gatheredFactors(ComputeOp op,
                                               bool mayBeWhole = false);

/// The longest of some indices of a sum along which `read` finds consecutive
/// elements, once its axes are turned; the last of equals, or none. None of
/// them is in `ofCondition`, the indices that its condition depends on.
std::optional<unsigned> longestRun(ReadOp read, ComputeOp op,
                                   llvm::ArrayRef<unsigned> indices,
                                   uint64_t ofCondition);

/// Returns the product in `op` as written: its indices, and the axes of its
/// factors, are in the order of rows, columns and terms. Null: none.
ProductAttr gatheredProduct(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_GATHEREDPRODUCT_H
