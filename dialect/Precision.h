//===- Precision.h - numbers in fewer bits --------------------------------===//
//
// `attn.precision = bf16` of a program or module says that its machine may
// round the factors of matrix products to bf16; of an equation that is a
// product, that they are. Sums and results have the precision of all else.
//
// `attn.precision = i8` of a sum states two facts. The factors of its terms are
// whole numbers from -127 to 127, and every sum of them is below 2^24. Nothing
// is rounded, so it may be left out.
//
// `attn.precision = bf16` of a parameter states that its elements are bf16
// numbers, and `i4` that they are multiples of a scale for each group. So for
// other types of fewer bits than f32 (runtime/data/StorageFormat.h). Arithmetic
// stays as everywhere else.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_PRECISION_H
#define FOVEA_DIALECT_PRECISION_H

#include "dialect/AttnForward.h"

namespace fovea::attn {

/// The terms of a sum of products of whole numbers up to 127 that f32 has
/// exactly: 1024 * 127 * 127 < 2^24.
constexpr int64_t exactTerms = 1024;

/// Null: factors are not rounded.
mlir::Type precisionOf(mlir::Operation *op);
/// The precision of the program, or of its module.
mlir::Type allowedPrecision(ProgramOp program);
void setPrecision(mlir::Operation *op, mlir::Type type);
void removePrecision(mlir::Operation *op);
/// Says the same of the factors of `to` as of `from`, whose sum it computes in
/// the same order, if it has one.
void keepPrecision(ComputeOp from, ComputeOp to);

/// Part of attribute verification: checks that `op` can have this precision.
/// Ignores all other attributes.
mlir::LogicalResult verifyPrecision(mlir::Operation *op,
                                    mlir::NamedAttribute named);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_PRECISION_H
