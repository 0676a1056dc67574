//===- Sound.h - filter banks from WAV and FLAC ---------------------------===//
//
// A sound as the frames that a recogniser reads (Chorowski et al., 2015): the
// logs of the energies in bands of the mel scale, the log of the whole energy,
// and the first and second differences of these over time.
//
//   y[n]      = x[n] - 0.97 x[n-1]                         x in -1 .. 1
//   X[t]      = DFT of y[shift t + k] (0.54 - 0.46 cos(2 pi k / (window - 1)))
//   mel(f)    = 1127 ln(1 + f / 700)
//   band[t,b] = ln max(1e-10, sum over f of |X[t,f]|^2 triangle_b(mel(f)))
//   energy[t] = ln max(1e-10, sum over k of x[shift t + k]^2)
//   delta[t]  = sum over n = 1, 2 of n (c[t+n] - c[t-n]) / 10
//
// The DFT has the next power of 2 of points; triangles are equally wide in mel,
// from 0 to half the rate, and half overlap; at both ends of a sound the first
// and the last frame are repeated. A sound that is shorter than a window has
// one frame, with silence after it. Each of the numbers is normalised to the
// mean 0 and the deviation 1 over the frames of its sound.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_SOUND_H
#define FOVEA_DRIVER_DATA_SOUND_H

#include "runtime/Status.h"

#include <cstdint>
#include <vector>

namespace fovea::cli {

struct SoundOptions {
  int64_t rate = 16000; // samples per second
  int64_t filters = 40, deltas = 2;
  double window = 0.025, shift = 0.01; // seconds
  bool normalise = true;

  /// The numbers of a frame.
  int64_t width() const { return (filters + 1) * (deltas + 1); }
};

/// Reads the samples of a file; of several channels their mean. A file of
/// another rate is an error.
runtime::Status readSound(const std::string &path, int64_t rate,
                          std::vector<double> &samples);

/// The frames of a sound, `width` numbers each.
std::vector<double> framesOf(const std::vector<double> &samples,
                             const SoundOptions &options);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_SOUND_H
