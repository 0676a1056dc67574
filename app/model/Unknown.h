//===- Unknown.h - what replaces unknown words ----------------------------===//

#ifndef FOVEA_APP_MODEL_UNKNOWN_H
#define FOVEA_APP_MODEL_UNKNOWN_H

#include "app/model/Execution.h"
#include "runtime/data/UnknownWords.h"

namespace fovea::cli {

/// Reads the entry `unknown` of the block `decode`: `NAME`, `replace(NAME)`,
/// `replace(NAME, dictionary = "FILE")` or `none`; `model` still has its
/// equations. False when it is wrong (diagnosed).
bool readUnknown(Session &session, const Arguments &arguments, Model &model,
                 runtime::UnknownWords &unknown);

/// Stores the dictionary that the spec names with the weights. A missing
/// one is reported at its use; one outside the spec's folder is reported
/// here.
void storeDictionary(Session &session, const Arguments &arguments,
                     Model &model);

/// Names the source words of examples given as ids.
void nameGivenWords(const runtime::UnknownWords &unknown, Execution &execution);

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_UNKNOWN_H
