//===- ProductAttr.h - whether an op is a matrix product --------*- C++ -*-===//

#ifndef FOVEA_DIALECT_PRODUCTATTR_H
#define FOVEA_DIALECT_PRODUCTATTR_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Part of the verification of attributes: checks that `op` computes this
/// product.
mlir::LogicalResult verifyProduct(mlir::Operation *op, ProductAttr product);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_PRODUCTATTR_H
