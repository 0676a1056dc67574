//===- EnumeratePlaces.h - every value of a choice at each place ----------===//
//
// The form in which `attn-draw-latents` leaves an enumerated choice at several
// places, for `attn-derive-objective` to sum over.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_DERIVE_ENUMERATEPLACES_H
#define FOVEA_PASSES_DERIVE_ENUMERATEPLACES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// On the latent choice, and on its start: the axis along which a place may
/// read the one before; -1: all places are chosen independently.
inline constexpr char chainName[] = "attn.chain";

/// On the choice at the boundary of a chain: from what the first place reads.
inline constexpr char startName[] = "attn.start";

/// On a choice of data that depends on a latent one, and on the latent itself:
/// the values of it that have axes in front, at the same place and at the place
/// before it. Also, which axes after these belong to the latent.
inline constexpr char overName[] = "attn.over";

/// On an array of the most probable values, at the places or at the places
/// before them: the latent.
inline constexpr char bestName[] = "attn.best",
                      bestBeforeName[] = "attn.best_before";

/// Expands everything that depends on `choice` for each of its values. `start`:
/// the choice at its boundary, or null. Both are removed.
llvm::LogicalResult enumeratePlaces(ChoiceOp choice, ChoiceOp start);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_ENUMERATEPLACES_H
