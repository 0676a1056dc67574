//===- MemoryAttrs.h - whether an op can have a location ------------------===//

#ifndef FOVEA_DIALECT_MEMORYATTRS_H
#define FOVEA_DIALECT_MEMORYATTRS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Part of attribute verification: checks that `op` can have this location, or
/// list of locations. Ignores all other attributes.
mlir::LogicalResult verifyLocation(mlir::Operation *op,
                                   mlir::NamedAttribute named);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_MEMORYATTRS_H
