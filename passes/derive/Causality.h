//===- Causality.h - whether data depend on earlier choices alone ---------===//

#ifndef FOVEA_PASSES_DERIVE_CAUSALITY_H
#define FOVEA_PASSES_DERIVE_CAUSALITY_H

#include "dialect/AttnDialect.h"

#include <optional>

namespace fovea::attn {

/// The axis along which a choice and data go together.
struct Causal {
  unsigned ofLatent, ofData;
};

/// The axis along which `data` at a place depends on `latent` there and before,
/// and on nothing after; nullopt: none is known.
std::optional<Causal> dependsOnEarlier(ChoiceOp latent, ChoiceOp data);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_CAUSALITY_H
