//===- Divergence.h - how much more a guide knows -------------------------===//

#ifndef FOVEA_PASSES_DERIVE_DIVERGENCE_H
#define FOVEA_PASSES_DERIVE_DIVERGENCE_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// KL(guide || choice) of each element: in closed form of two normals (Kingma
/// and Welling 2014) and of what has finitely many values, by `drawn`, a value
/// from the guide, of others. `builder` adds the equations.
mlir::Value divergenceOf(const mlir::OpBuilder &builder, ChoiceOp choice,
                         ChoiceOp guide, mlir::Value drawn);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_DIVERGENCE_H
