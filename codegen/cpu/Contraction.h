//===- Contraction.h - equations that are matrix products -----------------===//
//
// Recognises sums of products that are one matrix product over all the rows of
// a batch, however they are written:
//
//   rows      C[i.., n] = sum[k](A[i.., k] * W[n, k])    W once for the batch
//   placed    C[i.., n] = sum[k](A[p, i.., k] * W[n, k])  at one place of A: a
//                         number, or the step of a loop plus a number
//   examples  C[m, n]   = sum over examples[i..](A[i.., m] * B[i.., n])
//
// Because arrays are packed, the rows of all examples are one behind the other.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_CONTRACTION_H
#define FOVEA_CODEGEN_CPU_CONTRACTION_H

#include "passes/Access.h"

namespace fovea::codegen {

struct Contraction {
  enum Kind { Rows, Placed, Examples } kind = Rows;
  /// Rows, wherever they lie, times weights.
  bool isByRows() const { return kind != Examples; }
  attn::ReadOp left, right; // A and B
  /// C[.., n] for first <= n < last; the rest of the axis is zero.
  int64_t first = 0, last = 0;
  /// Rows: the condition of the op, which says of whole rows that they are
  /// zero, has to be applied behind the product.
  bool hasRowCondition = false;
  /// The elements of one row of C.
  int64_t width = 0;

  // The left side: rows of `leftWidth` elements; the product takes those from
  // `leftFirst` on.
  int64_t leftWidth = 0, leftFirst = 0;
  /// Placed: where the left side is read along its first axes, which have no
  /// index of the op: numbers (Constant), or steps of the loop around the op
  /// plus a number (Outer). Where the op computes anything they are places of
  /// these axes; elsewhere its condition does not hold.
  llvm::SmallVector<attn::AccessIndex, 1> places;
  // The right side. Rows: element (k, n) is at `rightFirst` + k * rowStride +
  // n * columnStride. Examples: the same, k counting the rows of the batch.
  int64_t rightFirst = 0, rowStride = 0, columnStride = 0;
  /// Rows: the terms of a sum. Examples: m, the rows of C.
  int64_t count = 0;

  int64_t columns() const { return last - first; }
};

/// The product that `op` is, if it is one that is worth a matrix product.
/// Behind the phase `batch`.
std::optional<Contraction> contractionOf(attn::ComputeOp op);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_CONTRACTION_H
