//===- OutputBlock.h - what the host reads after a run ----------*- C++ -*-===//
//
// With a device that has memory of its own, small results come to pinned memory
// in copies at the end of the run.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_OUTPUTBLOCK_H
#define FOVEA_RUNTIME_MEMORY_OUTPUTBLOCK_H

#include "runtime/device/SharedMemory.h"

namespace fovea::runtime {

class OutputBlock {
public:
  void clear() { parts.clear(); }
  /// Adds an array of the device, if it is small.
  void add(const void *from, int64_t bytes);
  /// Copies all of them at the end of the next run of this thread.
  void order();
  /// Returns the copy of some bytes of one, or null.
  const std::byte *find(const void *from, int64_t bytes) const;

private:
  struct Part {
    const std::byte *from = nullptr;
    int64_t begin = 0, bytes = 0;
  };
  std::vector<Part> parts;
  ExchangedVector<std::byte> memory;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_OUTPUTBLOCK_H
