//===- Scans.h - recurrences with more rows or carries --------------------===//
//
// Operations on the rows of a scan, shared by passes that change them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_SCANS_H
#define FOVEA_PASSES_ANALYSIS_SCANS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns whether a value is computed in the body of `scan`.
bool isInside(mlir::Value value, ScanOp scan);

/// The stacked array whose rows are `row`, if there is one.
std::optional<unsigned> stackedOf(ScanOp scan, mlir::Value row);

/// Reads the step's row, which lacks axis `axis`, in place of `read`; returns
/// the element.
mlir::Value readRow(ReadOp read, mlir::Value row, unsigned axis);

/// Returns a scan that also keeps `rows`, last; axes[i] is the position of the
/// loop index in the array of rows[i]. Erases `scan`.
ScanOp withRows(ScanOp scan, mlir::ValueRange rows,
                llvm::ArrayRef<int64_t> axes);

/// Returns the scan with additional trailing carries, which its body passes
/// through.
/// `scan` is gone.
ScanOp withCarries(ScanOp scan, mlir::ValueRange inits);

/// Returns whether each step keeps a large row, with at least one length of its
/// own, so that memory matters: T x S x A.
bool isWide(mlir::Value stacked);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_SCANS_H
