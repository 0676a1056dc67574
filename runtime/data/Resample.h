//===- Resample.h - a sound at another rate -------------------------------===//
//
// Converts samples x at one rate to samples y at another, with a windowed sinc
// for each phase (Smith and Gossett, 1984):
//
//   ratio = rate of y / rate of x,  c = min(1, ratio)
//   h(d)  = sinc(c d) cos(pi c d / 64)^2      for |c d| < 32, otherwise 0
//   y[n]  = sum over k of x[k] h(k - n / ratio) / sum over k of h(k - n /
//   ratio)
//
// The sums run over all whole k with a weight, in rising order, and x is 0
// outside of the sound. There are ceil(count * ratio) samples y. Positions are
// fractions of whole numbers. So each bit is the same on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_RESAMPLE_H
#define FOVEA_RUNTIME_DATA_RESAMPLE_H

#include "runtime/Status.h"
#include "runtime/data/SoundFrames.h"

namespace fovea::runtime {

/// Converts the samples of the sound `path` from `rate` to the one of
/// `options`. An error if these differ and the spec does not ask for that, and
/// for rates below 1,000 or above 1,000,000.
Status resample(const std::string &path, int64_t rate,
                const SoundOptions &options, std::vector<double> &samples);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_RESAMPLE_H
