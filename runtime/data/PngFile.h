//===- PngFile.h - the pixels of a PNG file -------------------------------===//
//
// Reads pictures in programs, which link no library for them. The pixels equal
// those of libpng, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_PNGFILE_H
#define FOVEA_RUNTIME_DATA_PNGFILE_H

#include "runtime/data/Picture.h"

namespace fovea::runtime {

/// Reads red, green, blue and opacity from `bytes`, the content of `path`.
/// Channels of 16 bits, and colours with a gamma other than sRGB's, are errors.
Status readPng(const std::string &bytes, const std::string &path,
               const TakeSize &take, Picture &picture);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_PNGFILE_H
