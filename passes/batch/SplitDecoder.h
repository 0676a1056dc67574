//===- SplitDecoder.h - what the programs of a search share ---------------===//
//
// The names and attributes by which `attn-split-decoder` connects its
// programs.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_BATCH_SPLITDECODER_H
#define FOVEA_PASSES_BATCH_SPLITDECODER_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The storage of a row's data (the attribute `attn.place` of
/// `attn.data`): in consecutive rows, with the row's example, or in a
/// buffer of the row.
enum class DataPlace { packed, example, buffer };
DataPlace placeOfData(DataOp op);
void setPlace(DataOp op, DataPlace place);

/// Whether it is the number of a loop inside the step, instead of the step's
/// (the attribute `attn.inside` of `attn.step`).
bool isInsideStep(StepOp op);
void setInsideStep(StepOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_BATCH_SPLITDECODER_H
