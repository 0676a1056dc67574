//===- Pixels.h - pictures from PNG and JPEG ------------------------------===//

#ifndef FOVEA_APP_DATA_PIXELS_H
#define FOVEA_APP_DATA_PIXELS_H

#include "runtime/data/Picture.h"

namespace fovea::cli {

/// Reads a picture of 1 (grey), 3 or 4 (with opacity) channels from `bytes`,
/// the content of `path`, and converts the channels if necessary. Colours
/// become grey by luminance; without an opacity channel the picture is blended
/// onto white.
runtime::Status readPicture(const std::string &bytes, const std::string &path,
                            int64_t channels, const runtime::TakeSize &take,
                            runtime::Picture &picture);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_PIXELS_H
