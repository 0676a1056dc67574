//===- FlacFile.h - the samples of a FLAC file ----------------------------===//
//
// Reads sounds in programs, which link no audio library. The values equal those
// of libsndfile, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_FLACFILE_H
#define FOVEA_RUNTIME_DATA_FLACFILE_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::runtime {

/// Reads the samples in `bytes`, the content of `path`, and their rate;
/// averages several channels.
Status readFlac(const std::string &bytes, const std::string &path,
                int64_t &rate, std::vector<double> &samples);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_FLACFILE_H
