//===- Sound.cpp - samples from WAV and FLAC ------------------------------===//
//
// Uses libsndfile.
//
//===----------------------------------------------------------------------===//

#include "app/data/Sound.h"
#include "runtime/data/OpenFile.h"

#include <cmath>
#include <fmt/format.h>
#include <memory>

#include <sndfile.h>

using namespace fovea;
using namespace fovea::cli;
using fovea::runtime::Status;

/// An hour at the highest rate: no example has more.
static constexpr int64_t mostSamples = int64_t(1) << 28;

Status fovea::cli::readSound(const std::string &path, int64_t rate,
                             std::vector<double> &samples) {
  auto fail = [&](const std::string &why) {
    return Status::error(
        fmt::format("cannot read the sound '{}': {}", path, why));
  };
  SF_INFO info = {};
  std::string why;
  int descriptor = runtime::openToRead(path, why);
  if (descriptor < 0)
    return fail(why);
  std::unique_ptr<SNDFILE, int (*)(SNDFILE *)> file(
      sf_open_fd(descriptor, SFM_READ, &info, /*close_desc=*/SF_TRUE),
      sf_close);
  if (!file)
    return fail(sf_strerror(nullptr));
  if (info.samplerate != rate)
    return Status::error(fmt::format(
        "the sound '{}' has {} samples per second but 'from sound' expects {}",
        path, info.samplerate, rate));
  if (info.frames < 1 || info.frames > mostSamples / info.channels)
    return fail(fmt::format("it has {} samples", info.frames));
  // The header may claim any number of samples: allocate memory only for those
  // in the file.
  constexpr sf_count_t atOnce = 1 << 14;
  std::vector<double> part(atOnce * info.channels);
  samples.clear();
  while (sf_count_t count = sf_readf_double(file.get(), part.data(), atOnce))
    for (sf_count_t i = 0; i < count; ++i) {
      double sum = 0;
      for (int channel = 0; channel < info.channels; ++channel)
        sum += part[i * info.channels + channel];
      samples.push_back(sum / info.channels);
      if (!std::isfinite(samples.back()))
        return fail(fmt::format("sample {} is not finite", samples.size() - 1));
    }
  if (auto count = int64_t(samples.size()); count != info.frames)
    return fail(fmt::format("it claims {} samples but ends after {}",
                            info.frames, count));
  return Status::success();
}
