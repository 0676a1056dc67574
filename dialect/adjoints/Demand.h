//===- Demand.h - which elements of an array are looked at ----------------===//

#ifndef FOVEA_DIALECT_ADJOINTS_DEMAND_H
#define FOVEA_DIALECT_ADJOINTS_DEMAND_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns an array of bits: whether `read`, in the body of a compute, uses
/// each element of its array, or of alternative `number`. It does where the
/// compute's condition and the branches around the read hold, and where
/// `ofReader`, bits over the compute's parallel indices, holds; null means
/// everywhere. Returns null if the read provably uses all elements, as far as
/// can be told.
mlir::Value demandThrough(mlir::OpBuilder &builder, ReadOp read,
                          std::optional<unsigned> number, mlir::Value ofReader);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ADJOINTS_DEMAND_H
