//===- Inflate.h - what zlib has compressed -------------------------------===//
//
// Programs link no library for the pictures that they read.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_INFLATE_H
#define FOVEA_RUNTIME_DATA_INFLATE_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea::runtime {

/// Decompresses a zlib stream (RFC 1950 and 1951) of exactly `size` bytes.
/// Returns false if it is damaged, or has another size.
bool inflate(std::string_view stream, size_t size, std::vector<uint8_t> &bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_INFLATE_H
