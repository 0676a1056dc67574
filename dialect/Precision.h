//===- Precision.h - what the factors of products are rounded to ----------===//
//
// `attn.precision = bf16` of a program or module says that its machine may
// round the factors of matrix products to bf16; of an equation that is a
// product, that they are. Sums and results have the precision of all else.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_PRECISION_H
#define FOVEA_DIALECT_PRECISION_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Null: factors are not rounded.
mlir::Type precisionOf(mlir::Operation *op);
/// The precision of the program, or of its module.
mlir::Type allowedPrecision(ProgramOp program);
void setPrecision(mlir::Operation *op, mlir::Type type);

/// Part of attribute verification: checks that `op` can have this precision.
/// Ignores all other attributes.
mlir::LogicalResult verifyPrecision(mlir::Operation *op,
                                    mlir::NamedAttribute named);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_PRECISION_H
