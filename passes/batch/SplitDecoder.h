//===- SplitDecoder.h - what the programs of a search share ---------------===//
//
// The names and attributes by which `attn-split-decoder` says how the programs
// that it makes belong together.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_BATCH_SPLITDECODER_H
#define FOVEA_PASSES_BATCH_SPLITDECODER_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Of a module: what the search does with the programs, as a dictionary that
/// codegen/Decoder.cpp reads into runtime/Decoder.h.
constexpr llvm::StringLiteral decoderName = "attn.decoder";

/// Where the data of a row lies (the attribute `attn.place` of `attn.data`): in
/// consecutive rows, with the example that the row belongs to, or in a buffer
/// that the row has.
enum class DataPlace { packed, example, buffer };
DataPlace placeOfData(DataOp op);
void setPlace(DataOp op, DataPlace place);

/// Whether it is the number of a loop inside the step, in place of that of the
/// step (the attribute `attn.inside` of `attn.step`).
bool isInsideStep(StepOp op);
void setInsideStep(StepOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_BATCH_SPLITDECODER_H
