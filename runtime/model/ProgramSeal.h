//===- ProgramSeal.h - what a whole program looks like --------------------===//
//
// Part of every program that `fovea compile` makes. The compiler fills it in
// when the file is complete (codegen/native/SealProgram.cpp), and the program
// checks itself against it at startup (OwnFile.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_PROGRAMSEAL_H
#define FOVEA_RUNTIME_MODEL_PROGRAMSEAL_H

#include "runtime/data/Checksum.h"

#include <cstddef>

/// Marks the struct in a file for the compiler.
#define FOVEA_SEAL_MARK                                                        \
  {'f', 'o', 'v', 'e', 'a', ' ', 's', 'e', 'a', 'l', ' ', '1', 3, 1, 4, 1}

struct FoveaSeal {
  char mark[16];
  /// The size of the file; 0: not filled in.
  uint64_t size;
  /// The offset of this struct in the file.
  uint64_t place;
  /// Bytes after it that have their own checksums: weights, description.
  uint64_t skipBegin, skipEnd;
  /// The checksum of all other bytes outside this struct.
  uint64_t checksum;
};

namespace fovea::runtime {

/// Computes the checksum of a file sealed like this.
inline uint64_t checksumOf(std::string_view file, const FoveaSeal &seal) {
  size_t after = seal.place + sizeof(FoveaSeal);
  const uint64_t parts[] = {
      checksum(file.substr(0, seal.place)),
      checksum(file.substr(after, seal.skipBegin - after)),
      checksum(file.substr(seal.skipEnd))};
  return checksum({reinterpret_cast<const char *>(parts), sizeof(parts)});
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_PROGRAMSEAL_H
