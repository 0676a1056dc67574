//===- InputBlock.h - what the host writes ahead of a run -------*- C++ -*-===//
//
// With a device that has memory of its own, the host fills a block of pinned
// memory. One copy brings it to the device, ahead of the kernels. Otherwise
// both use the same block.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_INPUTBLOCK_H
#define FOVEA_RUNTIME_MEMORY_INPUTBLOCK_H

#include "runtime/memory/Placement.h"

#include <vector>

namespace fovea::runtime {

class InputBlock {
public:
  /// Begins another layout; nothing of the last one is used any more.
  void clear() { parts.clear(); }
  /// Adds an array, and returns its number.
  size_t add(int64_t bytes);
  /// Ensures memory for all of them; discards the content.
  Status reserve();
  std::byte *host(size_t part) const {
    return written.get() + parts[part].begin;
  }
  std::byte *device(size_t part) const;
  /// Copies it to the device, after the earlier launches.
  void send() const;

private:
  struct Part {
    int64_t begin = 0, bytes = 0;
  };
  struct Free {
    void operator()(std::byte *memory) const { freeShared(memory); }
  };
  bool isCopied() const { return !read.empty(); }

  std::vector<Part> parts;
  std::unique_ptr<std::byte[], Free> written;
  int64_t capacity = 0;
  bool isPinned = false;
  /// One for all parts; an emulator detects accesses beyond each of them.
  std::vector<Arena> read;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_INPUTBLOCK_H
