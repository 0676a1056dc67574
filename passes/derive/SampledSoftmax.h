//===- SampledSoftmax.h - log p by some of all symbols --------------------===//

#ifndef FOVEA_PASSES_DERIVE_SAMPLEDSOFTMAX_H
#define FOVEA_PASSES_DERIVE_SAMPLEDSOFTMAX_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns whether `choice` is trained with fewer candidates than symbols.
bool isSampled(ChoiceOp choice);

/// Fails, with an error, if `choice` requests candidates without a vocabulary,
/// or with label smoothing.
llvm::LogicalResult checkSampled(ChoiceOp choice, bool isSmoothed);

/// An estimate of log p of each element of a choice that is trained with
/// candidates, over the axes of the choice. `builder` adds to the end of the
/// system.
mlir::Value sampledLogp(const mlir::OpBuilder &builder, ChoiceOp choice);

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_SAMPLEDSOFTMAX_H
