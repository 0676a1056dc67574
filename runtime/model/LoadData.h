//===- LoadData.h - a file as the data of a program -----------------------===//

#ifndef FOVEA_RUNTIME_MODEL_LOADDATA_H
#define FOVEA_RUNTIME_MODEL_LOADDATA_H

#include "runtime/model/Description.h"

namespace fovea::runtime {

/// Reads the WAV, FLAC or PNG file `path` in the format of `data`.
Status loadData(const std::string &path, const DataDescription &data,
                DataValues &values, Lengths &lengths);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_LOADDATA_H
