//===- Picture.h - pictures as data ---------------------------------------===//
//
// Readers of files give rows of pixels. Here they become the channels and the
// numbers of a model: in the compiler and in programs alike.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_PICTURE_H
#define FOVEA_RUNTIME_DATA_PICTURE_H

#include "runtime/data/Batch.h"

#include <functional>
#include <map>

namespace fovea::runtime {

/// Rows of pixels with interleaved channels, from the upper left.
struct Picture {
  int64_t rows = 0, columns = 0, channels = 0;
  std::vector<uint8_t> bytes;

  /// Colours become grey by luminance; without an opacity channel the picture
  /// is blended onto white.
  void convertTo(int64_t channels);

  /// Stretches the picture to another size. Along an axis of n pixels that
  /// become m, with s = max(1, n / m), pixel j of the result is
  ///
  ///   sum over i of p[i] w(i) / sum over i of w(i),
  ///   w(i) = max(0, 1 - |i + 1/2 - (j + 1/2) n / m| / s)
  ///
  /// first of rows, then of columns, in rising order and in f64. Each channel
  /// is rounded once, halves up. So each bit is the same on every machine.
  void resizeTo(int64_t rows, int64_t columns);
};

/// Decides whether a picture of so many rows and columns is acceptable, before
/// it is decoded.
using TakeSize = std::function<Status(int64_t, int64_t)>;

/// Returns the error that the picture `path` cannot be read.
Status unreadablePicture(const std::string &path, const std::string &why);

/// Checks the size that a picture claims: its bytes can hold at most `most`
/// pixels. Then asks `take`.
Status checkSize(const std::string &path, int64_t rows, int64_t columns,
                 double most, const TakeSize &take);

/// Accepts the sizes that `Picture::resizeTo` can begin with, for any picture
/// of moderate size: at most 65,536 pixels along an axis, and 2^26 in all.
TakeSize checkResizable(const std::string &path);

/// The axes of data that are the rows, columns and channels of pictures.
struct PixelAxes {
  int64_t channels = 0;          // 0: the data hold no pictures
  int64_t rows = 0, columns = 0; // 0: any number, or a film
  bool haveAxis = false;         // of their own
  bool areFirst = false;
  bool isFilm = false; // frames, each a picture; a file of a picture is none

  explicit PixelAxes(const DataSpec &spec);
  /// The extents of a picture in the order of the data.
  std::vector<int64_t> shapeOf(int64_t rows, int64_t columns) const;
};

/// How bytes become numbers: `from pixels(mean = .., deviation = ..)`, one
/// number for all channels or one for each. `resize`: pictures of any size are
/// stretched to the rows and columns of the data.
struct PixelOptions {
  std::vector<double> mean = {0}, deviation = {1};
  bool isBit = false, resize = false;

  static PixelOptions
  from(const std::map<std::string, std::vector<double>> &arguments, bool isBit);
  /// A byte of a channel as the model sees it: normalised, or black and white.
  double valueOf(int64_t channel, uint8_t byte) const;
  /// The numbers of a picture, in the order of the data.
  std::vector<double> valuesOf(const Picture &picture,
                               const PixelAxes &axes) const;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_PICTURE_H
