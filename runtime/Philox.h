//===- Philox.h - random numbers by their place ---------------------------===//
//
// Philox4x32-10 (Salmon et al. 2011): maps a key and a counter to four random
// words. A random number depends only on its purpose.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_PHILOX_H
#define FOVEA_RUNTIME_PHILOX_H

#include <array>
#include <cstdint>

namespace fovea::runtime {

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0];
    uint64_t second = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_PHILOX_H
