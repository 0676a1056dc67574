//===- Checksum.h - whether bytes are those that were written -*- C++ -*-===//
//
// Against damage, not against malice. Fast enough for all weights of a model
// whenever it is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_CHECKSUM_H
#define FOVEA_RUNTIME_DATA_CHECKSUM_H

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::runtime {

/// XXH3 of 64 bits: the same on every machine.
uint64_t checksum(std::string_view bytes);
/// XXH3 of 128 bits, as 32 hexadecimal digits: what files say.
std::string wideChecksum(std::string_view bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_CHECKSUM_H
