//===- ChooseTiles.h - which tiles are worth it -----------------*- C++ -*-===//

#ifndef FOVEA_TARGETS_NVIDIA_CHOOSETILES_H
#define FOVEA_TARGETS_NVIDIA_CHOOSETILES_H

#include <cstdint>

namespace fovea::attn {

/// With fewer medium tiles than this, small ones are better: a device has about
/// twice as many processors, but small tiles read more per operation.
constexpr int64_t leastTiles = 64;
/// The rows and columns of a small tile.
constexpr int64_t smallRows = 16, smallColumns = 32;
/// The rows and columns of a large tile, and the number of large tiles below
/// which medium ones are better: there are four times as many.
constexpr int64_t largeSide = 128, leastLargeTiles = 128;

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_CHOOSETILES_H
