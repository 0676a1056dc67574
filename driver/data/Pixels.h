//===- Pixels.h - pictures from PNG and JPEG ------------------------------===//

#ifndef FOVEA_DRIVER_DATA_PIXELS_H
#define FOVEA_DRIVER_DATA_PIXELS_H

#include "runtime/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace fovea::cli {

/// Rows of pixels with interleaved channels, from the upper left.
struct Picture {
  int64_t rows = 0, columns = 0, channels = 0;
  std::vector<uint8_t> bytes;
};

/// Decides whether a picture of so many rows and columns is acceptable, before
/// it is decoded.
using TakeSize = std::function<runtime::Status(int64_t, int64_t)>;

/// Reads a picture of 1 (grey), 3 or 4 (with opacity) channels from `bytes`,
/// the content of `path`, and converts the channels if necessary. Colours
/// become grey by luminance; without an opacity channel the picture is blended
/// onto white.
runtime::Status readPicture(const std::string &bytes, const std::string &path,
                            int64_t channels, const TakeSize &take,
                            Picture &picture);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_PIXELS_H
