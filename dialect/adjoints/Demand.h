//===- Demand.h - which elements of an array are looked at ----------------===//

#ifndef FOVEA_DIALECT_ADJOINTS_DEMAND_H
#define FOVEA_DIALECT_ADJOINTS_DEMAND_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// An array of bits, one per element of the array that `read`, a read in the
/// body of a compute, finds there, or of alternative `number`: whether the read
/// looks at the element. It does where the compute's condition and the branches
/// around the read hold, and where `ofReader`, bits over the compute's parallel
/// indices, holds; null stands for everywhere. Null as well where the read
/// looks everywhere, as far as can be told.
mlir::Value demandThrough(mlir::OpBuilder &builder, ReadOp read,
                          std::optional<unsigned> number, mlir::Value ofReader);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ADJOINTS_DEMAND_H
