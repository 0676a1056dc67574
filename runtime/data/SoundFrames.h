//===- SoundFrames.h - filter banks from samples --------------------------===//
//
// Converts a sound to the frames of a speech recogniser (Chorowski et al.,
// 2015): log energies in mel bands, the log of the total energy, and their
// first and second differences over time.
//
//   y[n]      = x[n] - 0.97 x[n-1]                         x in -1 .. 1
//   X[t]      = DFT of y[shift t + k] (0.54 - 0.46 cos(2 pi k / (window - 1)))
//   mel(f)    = 1127 ln(1 + f / 700)
//   band[t,b] = ln max(1e-10, sum over f of |X[t,f]|^2 triangle_b(mel(f)))
//   energy[t] = ln max(1e-10, sum over k of x[shift t + k]^2)
//   delta[t]  = sum over n = 1, 2 of n (c[t+n] - c[t-n]) / 10
//
// The DFT has the next power of 2 of points. Triangles are equally wide in mel,
// from 0 to half the rate, and overlap by half. At both ends of a sound, the
// first and the last frame are repeated. A sound shorter than a window has one
// frame, padded with silence. Each number is normalised to mean 0 and deviation
// 1 over the frames of its sound.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_SOUNDFRAMES_H
#define FOVEA_RUNTIME_DATA_SOUNDFRAMES_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fovea::runtime {

struct SoundOptions {
  int64_t rate = 16000; // samples per second
  int64_t filters = 40, deltas = 2;
  double window = 0.025, shift = 0.01; // seconds
  bool normalise = true;
  bool resample = false; // files of other rates

  /// From the arguments of `from sound(..)`, which are all present.
  static SoundOptions
  from(const std::map<std::string, std::vector<double>> &arguments);
  /// The numbers per frame.
  int64_t width() const { return (filters + 1) * (deltas + 1); }
};

/// Returns the frames of a sound, `width` numbers each.
std::vector<double> framesOf(const std::vector<double> &samples,
                             const SoundOptions &options);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_SOUNDFRAMES_H
