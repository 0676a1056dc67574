//===- DivideWork.h - the work of a launch that may be done apart ---------===//

#ifndef FOVEA_PASSES_KERNELS_DIVIDEWORK_H
#define FOVEA_PASSES_KERNELS_DIVIDEWORK_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns whether `attn-divide-work` sets the units of an op: all launches
/// except matrix products, whose units follow from the tiles of a machine, and
/// loops.
bool hasUnits(mlir::Operation &op);

/// The units that follow from such an op.
Units unitsFor(mlir::Operation &op);

/// The units that an op has; nothing before the phase `kernels`.
std::optional<Units> unitsOf(mlir::Operation *op);

/// Checks that every launch has the units that follow from its equation. Emits
/// an error otherwise.
mlir::LogicalResult verifyUnits(ProgramOp program);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_DIVIDEWORK_H
