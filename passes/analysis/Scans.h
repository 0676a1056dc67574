//===- Scans.h - recurrences with more rows or carries --------------------===//
//
// What the passes that change what a scan keeps do to it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_SCANS_H
#define FOVEA_PASSES_ANALYSIS_SCANS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Whether a value stands in the body of `scan`.
bool isInside(mlir::Value value, ScanOp scan);

/// The stacked array whose rows are `row`, if there is one.
std::optional<unsigned> stackedOf(ScanOp scan, mlir::Value row);

/// Reads the row of a step, which has no axis `axis`, wherever `read` was used;
/// the element is returned.
mlir::Value readRow(ReadOp read, mlir::Value row, unsigned axis);

/// The scan that also keeps `rows`, at its end; axes[i] is where the loop index
/// stands in the array of rows[i]. `scan` is gone.
ScanOp withRows(ScanOp scan, mlir::ValueRange rows,
                llvm::ArrayRef<int64_t> axes);

/// The scan with more carries after its own, which its body leaves as they are.
/// `scan` is gone.
ScanOp withCarries(ScanOp scan, mlir::ValueRange inits);

/// Whether each step keeps a row that is so large, with a length of its own
/// and more, that keeping it is a matter of memory: T x S x A.
bool isWide(mlir::Value stacked);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_SCANS_H
