//===- WaveFile.h - the samples of a WAV file -----------------------------===//
//
// Reads sounds in programs, which link no audio library: PCM of 8 to 32 bits,
// and floating point. The values equal those of libsndfile, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_WAVEFILE_H
#define FOVEA_RUNTIME_DATA_WAVEFILE_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::runtime {

/// Reads the samples in `bytes`, the content of `path`, and their rate;
/// averages several channels.
Status readWave(const std::string &bytes, const std::string &path,
                int64_t &rate, std::vector<double> &samples);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_WAVEFILE_H
