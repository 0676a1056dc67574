//===- SentencePieces.h - vocabularies of SentencePiece -------------------===//
//
// A trained model of SentencePiece (Kudo and Richardson, 2018) as a vocabulary:
// it cuts lines into pieces and puts them together again. Ids are those of any
// vocabulary: 0 is <s>, 1 </s>, 2 <unk>, then come the other pieces in the
// order of the model.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_SENTENCEPIECES_H
#define FOVEA_DRIVER_DATA_SENTENCEPIECES_H

#include "runtime/data/Text.h"

namespace fovea::cli {

/// Makes a vocabulary of the bytes of a model; `path` is what messages call it.
runtime::Status readPieces(const std::string &path, const std::string &bytes,
                           runtime::Vocabulary &vocabulary);

/// The same of one that was stored: `vocabulary` has its model and its symbols,
/// which have to be those of the model.
runtime::Status restorePieces(const std::string &path,
                              runtime::Vocabulary &vocabulary);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_SENTENCEPIECES_H
