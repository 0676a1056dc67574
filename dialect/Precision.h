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

/// Null: factors are taken as they are.
mlir::Type precisionOf(mlir::Operation *op);
/// Of the program, or of the module that it stands in.
mlir::Type allowedPrecision(ProgramOp program);
void setPrecision(mlir::Operation *op, mlir::Type type);

/// Part of the verification of attributes: that `op` can have this precision.
/// Anything else is none of its business.
mlir::LogicalResult verifyPrecision(mlir::Operation *op,
                                    mlir::NamedAttribute named);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_PRECISION_H
