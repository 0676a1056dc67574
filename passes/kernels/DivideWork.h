//===- DivideWork.h - the work of a launch that may be done apart ---------===//

#ifndef FOVEA_PASSES_KERNELS_DIVIDEWORK_H
#define FOVEA_PASSES_KERNELS_DIVIDEWORK_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Whether an op is launched in units that `attn-divide-work` names: all but
/// matrix products, whose units follow from the tiles of a machine, and loops.
bool hasUnits(mlir::Operation &op);

/// The units of an op; nothing before the phase `kernels`.
std::optional<Units> unitsOf(mlir::Operation *op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_DIVIDEWORK_H
