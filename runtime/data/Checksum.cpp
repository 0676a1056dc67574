//===- Checksum.cpp - whether bytes are those that were written -----------===//
//
// xxHash, implemented here, so that a program links no library for it.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Checksum.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t fovea::runtime::checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string fovea::runtime::wideChecksum(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}
