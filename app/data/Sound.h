//===- Sound.h - samples of sound files -----------------------------------===//
//
// WAV and FLAC have the same samples everywhere. Ogg (Vorbis, Opus) and MP3 are
// decoded by libraries whose last bits depend on their version and on the CPU.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_SOUND_H
#define FOVEA_APP_DATA_SOUND_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::cli {

/// Reads the samples of a file with this content, and their rate; averages
/// several channels.
runtime::Status readSound(const std::string &bytes, const std::string &path,
                          int64_t &rate, std::vector<double> &samples);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_SOUND_H
