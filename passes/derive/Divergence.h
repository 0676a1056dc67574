//===- Divergence.h - how much more a guide knows -------------------------===//

#ifndef FOVEA_PASSES_DERIVE_DIVERGENCE_H
#define FOVEA_PASSES_DERIVE_DIVERGENCE_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// KL(guide || choice) of each element: in closed form for two normals (Kingma
/// and Welling 2014) and for finitely many values; otherwise estimated from
/// `drawn`, a sample from the guide. `builder` adds the equations.
mlir::Value divergenceOf(const mlir::OpBuilder &builder, ChoiceOp choice,
                         ChoiceOp guide, mlir::Value drawn);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_DIVERGENCE_H
