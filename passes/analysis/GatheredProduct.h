//===- GatheredProduct.h - convolutions are matrix products -----*- C++ -*-===//
//
// A sum of products of two reads, one of which stands at its own indices and
// the other wherever it wants to: what a convolution is, and each of its
// adjoints. It is a matrix product if the other one consists of runs of
// consecutive elements, which are then gathered where it is multiplied.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_GATHEREDPRODUCT_H
#define FOVEA_PASSES_ANALYSIS_GATHEREDPRODUCT_H

#include "passes/analysis/Access.h"

namespace fovea::attn {

/// The two factors of such a sum, and which part each index has.
struct GatheredFactors {
  unsigned left = 0; // operand of the body's product that is A, the gathered
  ReadOp gathered, plain;
  /// A sum over the examples: the gradient of weights. Otherwise the rows of
  /// all examples times weights.
  bool isOverExamples = false;
  /// Indices of the op, in its order, but for `run`, which stands last: it is
  /// one of the terms, or of the rows in a sum over the examples.
  llvm::SmallVector<unsigned> rows, columns, terms;
  unsigned run = 0;
};

/// What `op` multiplies, if it is large enough to be worth it, wherever its
/// indices and axes stand. With `mayBeWhole` also where the first factor stands
/// at its own indices, and is multiplied with weights over one term.
std::optional<GatheredFactors> gatheredFactors(ComputeOp op,
                                               bool mayBeWhole = false);

/// The product that `op` is as it stands: its indices are in the order of
/// rows, columns and terms, and so are the axes of its factors. Null: none.
ProductAttr gatheredProduct(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_GATHEREDPRODUCT_H
