//===- ProgramSeal.h - what a whole program looks like --------------------===//
//
// Part of every program that `fovea compile` makes. The compiler fills it in
// when the file is finished (codegen/native/SealProgram.cpp), and the program
// compares itself with it when it starts (OwnFile.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_PROGRAMSEAL_H
#define FOVEA_RUNTIME_MODEL_PROGRAMSEAL_H

#include "runtime/data/Checksum.h"

#include <cstddef>

/// How the compiler finds it in a file.
#define FOVEA_SEAL_MARK                                                        \
  {'f', 'o', 'v', 'e', 'a', ' ', 's', 'e', 'a', 'l', ' ', '1', 3, 1, 4, 1}

struct FoveaSeal {
  char mark[16];
  /// Of the file; 0: nothing has been filled in.
  uint64_t size;
  /// Where this struct lies in the file.
  uint64_t place;
  /// Bytes after it that have checksums of their own: weights, description.
  uint64_t skipBegin, skipEnd;
  /// Of all other bytes but those of this struct.
  uint64_t checksum;
};

namespace fovea::runtime {

/// The checksum of a file that is sealed so.
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
