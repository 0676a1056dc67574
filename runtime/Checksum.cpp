//===- Checksum.cpp - whether bytes are those that were written -----------===//
//
// xxHash, as code of our own: a program links nothing for it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t fovea::runtime::checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}
