//===- Pixels.h - pictures from PNG and JPEG ------------------------------===//

#ifndef FOVEA_DRIVER_DATA_PIXELS_H
#define FOVEA_DRIVER_DATA_PIXELS_H

#include "runtime/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace fovea::cli {

/// Bytes of rows of pixels of channels, from the upper left.
struct Picture {
  int64_t rows = 0, columns = 0, channels = 0;
  std::vector<uint8_t> bytes;
};

/// Is asked whether a picture of so many rows and columns is wanted, before it
/// is unpacked.
using TakeSize = std::function<runtime::Status(int64_t, int64_t)>;

/// Reads a picture of 1 (grey), 3 or 4 (with opacity) channels, which `bytes`,
/// the content of `path`, may have more or fewer of: colours become grey by
/// their luminance, and where opacity is not wanted the picture stands on
/// white.
runtime::Status readPicture(const std::string &bytes, const std::string &path,
                            int64_t channels, const TakeSize &take,
                            Picture &picture);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_PIXELS_H
