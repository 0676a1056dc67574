//===- Sound.h - samples from WAV and FLAC --------------------------------===//

#ifndef FOVEA_APP_DATA_SOUND_H
#define FOVEA_APP_DATA_SOUND_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::cli {

/// Reads the samples of a file; averages several channels. Another sample rate
/// is an error.
runtime::Status readSound(const std::string &path, int64_t rate,
                          std::vector<double> &samples);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_SOUND_H
