//===- SumOverPlaces.h - the sum over all ways to choose ------------------===//

#ifndef FOVEA_PASSES_DERIVE_SUMOVERPLACES_H
#define FOVEA_PASSES_DERIVE_SUMOVERPLACES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The form in which attn-draw-latents leaves a choice at several places.
struct Places {
  /// log p of data at each place, for the values of the choice there and at the
  /// previous place: leading axes for these, then those of the choice.
  struct Evidence {
    bool current, previous;
    mlir::Value logp, trained; // differ under label smoothing
  };

  ChoiceOp choice, start; // `start`: at the boundary, or null
  llvm::SmallVector<Evidence> evidence;
};

/// log p of the data: for each place, or each chain of places, and all of it.
struct LogSums {
  mlir::Value each, total;
};
/// Over all paths. `trained`: with smoothing.
LogSums sumOverPlaces(const mlir::OpBuilder &builder, const Places &places,
                      bool trained);

/// Replaces the arrays of the most probable values.
void findMostProbable(const mlir::OpBuilder &builder, const Places &places);

/// `marginal` in decoding: what depends on the choice is generated from the sum
/// over all of its values, and the choice is gone. `start`: at the boundary, or
/// null. Fails, with an error, where there is no such sum. `isWhole`: no other
/// choice is summed over. Then a chain, and a row that continues data, has the
/// output `logp/sum/NAME`: log p of all that is generated, with the bits of the
/// objective.
llvm::LogicalResult generateFromSum(ChoiceOp choice, ChoiceOp start,
                                    bool isWhole);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_SUMOVERPLACES_H
