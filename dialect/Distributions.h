//===- Distributions.h - what a choice draws ------------------------------===//

#ifndef FOVEA_DIALECT_DISTRIBUTIONS_H
#define FOVEA_DIALECT_DISTRIBUTIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The number of trailing axes that belong to one value: 1 for the pairs of
/// bivariate distributions.
unsigned numValueAxes(Distribution distribution, mlir::ArrayAttr parameters);
unsigned numValueAxes(ChoiceOp choice);

/// Checks what `op` says of a distribution that gives `value`: the type of its
/// values, and the names, the order and the types of its parameters. `arrays`
/// are the parameters, for notes, where `op` has them.
mlir::LogicalResult verifyParameters(mlir::Operation *op,
                                     Distribution distribution,
                                     mlir::ArrayAttr names,
                                     mlir::TypeRange types, ArrayType value,
                                     mlir::ValueRange arrays);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_DISTRIBUTIONS_H
