//===- LoadSound.h - a sound as the data of a program ---------------------===//

#ifndef FOVEA_RUNTIME_MODEL_LOADSOUND_H
#define FOVEA_RUNTIME_MODEL_LOADSOUND_H

#include "runtime/model/Description.h"

namespace fovea::runtime {

/// Reads the WAV file `path` as frames, in the format of `data`.
Status loadSound(const std::string &path, const DataDescription &data,
                 DataValues &values, Lengths &lengths);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_LOADSOUND_H
