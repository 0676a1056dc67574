//===- Product.h - the matrix product that an equation is -----------------===//
//
// `attn-name-products` decides which equations are matrix products and says so
// by `#attn.product`. Here is what that means in numbers, for those who compute
// or place them: the two reads, and where their elements lie.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_PRODUCT_H
#define FOVEA_PASSES_ANALYSIS_PRODUCT_H

#include "passes/analysis/Access.h"

namespace fovea::attn {

/// Products with fewer columns or terms are computed as written.
constexpr int64_t leastExtent = 8;

/// Returns the product that `op` is marked as, or null.
ProductAttr productOf(ComputeOp op);
/// Null: it is computed as it is written.
void setProduct(ComputeOp op, ProductAttr product);

/// Returns whether `op` is a sum of products of two reads that each depend on
/// an index of the result that the other lacks. Such an op may be marked as a
/// matrix product later, and must not change until then.
bool isMatrixProduct(ComputeOp op);

/// A product of the rows of a whole batch. Packed arrays make the rows of all
/// examples consecutive.
///
///   weights   C[i.., n] = sum[k](A[i.., k] * B[n, k])     B once for the batch
///   place     C[i.., n] = sum[k](A[p, i.., k] * B[n, k])  at one place of A
///   examples  C[m, n]   = sum over examples[i..](A[i.., m] * B[i.., n])
///
/// Convolutions with weights, and their adjoints, are products too: A is then
/// gathered. Its rows (for `examples`, its columns) consist of runs of
/// consecutive elements. Each run is anywhere, or 0.
struct RowsProduct {
  ProductKind kind = ProductKind::weights;
  /// Rows, at any address, times weights.
  bool isByRows() const { return kind != ProductKind::examples; }
  ReadOp left, right; // A and B
  /// C[.., n] for first <= n < last; the rest of the axis is zero.
  int64_t first = 0, last = 0;
  /// By rows: the condition of the op, which makes whole rows zero, must be
  /// applied after the product.
  bool hasRowCondition = false;
  /// The elements of one row of C.
  int64_t width = 0;

  // The left side: rows of `leftWidth` elements; the product takes those from
  // `leftFirst` on.
  int64_t leftWidth = 0, leftFirst = 0;
  /// place: where the left side is read along its first axes, which have no
  /// index of the op: numbers (Constant), or steps of the loop around the op
  /// plus a number (Outer). Where the op computes anything they are places of
  /// these axes; elsewhere its condition does not hold.
  llvm::SmallVector<AccessIndex, 1> places;
  // The right side. By rows: element (k, n) is at `rightFirst` + k * rowStride
  // + n * columnStride. examples: the same, k counting the rows of the batch.
  int64_t rightFirst = 0, rowStride = 0, columnStride = 0;
  /// By rows: the terms of a sum. examples: m, the rows of C.
  int64_t count = 0;

  /// A, if it is gathered, and the op's index along a run. The runs of a row
  /// (of a column, for `examples`) are the places of `runPlaces`, the last one
  /// the fastest.
  ReadOp gathered;
  unsigned runIndex = 0;
  llvm::SmallVector<unsigned> runPlaces;
  int64_t runs = 0, runLength = 0;

  int64_t columns() const { return last - first; }
  /// Whether B is packed before the product, and not piece by piece.
  bool packsAhead() const { return isByRows() || !gathered; }
};

/// A product within each example, once for each place of the indices that
/// both factors have: attention scores, weighted sums, and the adjoints of
/// both.
///
///   C[h.., m, n] = sum[k](A[h.., m, k] * B[h.., n, k])
///
/// The axes of A and B may have any order. In a loop there is one product per
/// step.
struct ExampleProduct {
  ReadOp left, right; // A and B
  /// The index of each axis of A, B and C: an index of the op, or, before
  /// those, a number or the step of an enclosing loop.
  llvm::SmallVector<AccessIndex> leftAxes, rightAxes, resultAxes;
  /// Indices of the op; n is its last parallel one.
  unsigned m = 0, n = 0, k = 0;
  /// All other indices, with a separate product at each place.
  llvm::SmallVector<unsigned> outer;
  /// Where A is not zero: k - m. Elements outside add nothing.
  Band terms;
  /// Where C is not zero: n - m.
  Band columns;
};

std::optional<RowsProduct> rowsProductOf(ComputeOp op);

/// Returns whether `op` is a product of rows whose result has lengths. In a
/// loop, each step then has the rows of all examples, not only of those in it.
bool isProductOverPlaces(ComputeOp op);

/// Returns whether the condition of `op` reads arrays.
bool conditionReads(ComputeOp op);

/// Returns whether a condition that reads arrays chooses the rows of a product,
/// or the terms of a sum over the examples. The others are nowhere.
bool choosesRows(ComputeOp op, const RowsProduct &product);

std::optional<ExampleProduct> exampleProductOf(ComputeOp op);

/// Returns whether the condition of `op` involves none of its indices: only
/// enclosing loops and lengths of the example.
bool isConditionOfRows(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_PRODUCT_H
