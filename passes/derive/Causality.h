//===- Causality.h - whether data depend on earlier choices alone ---------===//

#ifndef FOVEA_PASSES_DERIVE_CAUSALITY_H
#define FOVEA_PASSES_DERIVE_CAUSALITY_H

#include "dialect/AttnDialect.h"

#include <optional>

namespace fovea::attn {

/// The common axis of a choice and data.
struct Causal {
  unsigned ofLatent, ofData;
};

/// Returns the axis along which `data` at a place depends on `latent` only
/// there and before; nullopt if none is known.
std::optional<Causal> dependsOnEarlier(ChoiceOp latent, ChoiceOp data);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_CAUSALITY_H
