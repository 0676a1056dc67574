//===- UnrollChoices.h - loops of choices inside a step -------------------===//

#ifndef FOVEA_PASSES_BATCH_UNROLLCHOICES_H
#define FOVEA_PASSES_BATCH_UNROLLCHOICES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Unrolls loops of a fixed number of steps that make choices, so that each
/// choice belongs to the search's step. After `attn-batch`.
void unrollChoices(ProgramOp program);

/// Makes the remaining loops of choices in a search's step carry their rows:
/// each iteration passes on its results.
void carryRows(ProgramOp program);

/// Replaces `append` by an equation: the array, with its row at one
/// place.
mlir::Value replaceByEquation(AppendOp append);

} // namespace fovea::attn

#endif // FOVEA_PASSES_BATCH_UNROLLCHOICES_H
