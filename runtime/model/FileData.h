//===- FileData.h - the bytes of a file as the data of a model ------------===//
//
// Programs read files by their path; a page in a browser is given their bytes.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_FILEDATA_H
#define FOVEA_RUNTIME_MODEL_FILEDATA_H

#include "runtime/model/Description.h"

namespace fovea::runtime {

/// Reads `bytes`, the content of the WAV, FLAC or PNG file `path`, in the
/// format of `data`.
Status readFileData(const std::string &bytes, const std::string &path,
                    const DataDescription &data, DataValues &values,
                    Lengths &lengths);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_FILEDATA_H
