//===- Checksum.h - whether bytes are those that were written -*- C++ -*-===//
//
// Detects damage, not malice. Fast enough for all weights of a model at each
// load.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_CHECKSUM_H
#define FOVEA_RUNTIME_DATA_CHECKSUM_H

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::runtime {

/// XXH3 with 64 bits: the same on every machine.
uint64_t checksum(std::string_view bytes);
/// XXH3 with 128 bits, as 32 hexadecimal digits: the format in files.
std::string wideChecksum(std::string_view bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_CHECKSUM_H
