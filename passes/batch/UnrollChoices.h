//===- UnrollChoices.h - loops of choices inside a step -------------------===//

#ifndef FOVEA_PASSES_BATCH_UNROLLCHOICES_H
#define FOVEA_PASSES_BATCH_UNROLLCHOICES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Writes loops of a fixed number of steps that make choices as these steps, so
/// that each choice is one of the search's step. After `attn-batch`.
void unrollChoices(ProgramOp program);

/// Has the other loops of choices that stand in the step of a search carry
/// their rows: after a place a loop hands on all that it gives.
void carryRows(ProgramOp program);

/// Puts an equation in the place of `append`: the array, and at one place its
/// row.
mlir::Value replaceByEquation(AppendOp append);

} // namespace fovea::attn

#endif // FOVEA_PASSES_BATCH_UNROLLCHOICES_H
