//===- CutSearches.h - one program for each search ------------------------===//

#ifndef FOVEA_PASSES_BATCH_CUTSEARCHES_H
#define FOVEA_PASSES_BATCH_CUTSEARCHES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Cuts a decoding program into programs that make one search each, or choices
/// without a search, in order. What one computes and another reads is an output
/// `given/K` of the first and data of this name of the other; a length that a
/// search has found is a length like any other after it. A program that makes
/// one of them stays as it is. After `attn-batch`.
llvm::SmallVector<ProgramOp> cutSearches(ProgramOp program);

/// Returns whether an op is a choice made in decoding.
bool isMade(mlir::Operation *op);

/// Returns whether decoding makes choices inside of a loop.
bool makesChoices(ScanOp scan);

} // namespace fovea::attn

#endif // FOVEA_PASSES_BATCH_CUTSEARCHES_H
