//===- Memory.h - what kernels read and write -------------------*- C++ -*-===//
//
// Checks every access of a kernel: whether the memory exists, and whether
// another thread accesses it concurrently.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_MEMORY_H
#define FOVEA_TOOLS_EMULATOR_MEMORY_H

#include "tools/emulator/Ordering.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace fovea::emulator {

/// The thread of an access, and its synchronisation state. Accesses of two
/// threads are ordered if a barrier of their common block, or of their common
/// group, separates them. They are also ordered if the later one's block sees
/// what the other one's did by then.
struct Access {
  uint32_t block = 0, thread = 0;
  uint32_t blockWaits = 0, groupWaits = 0;
  uint32_t time = 0;
};

class Memory {
public:
  /// Filled with NaNs.
  void *allocate(size_t bytes);
  bool free(void *memory);
  /// Memory that always exists: the kernels' own. Shared memory passes from
  /// block to block.
  void add(void *memory, size_t bytes, const std::string &name,
           bool isOfBlock = false);
  /// Added memory has so many bytes from here on.
  void resize(void *memory, size_t bytes) {
    regions.at(static_cast<char *>(memory)).bytes = bytes;
    recent = regions.end();
  }
  /// The next block knows nothing of the shared memory's content.
  void beginBlock();
  /// Swaps the shared memory of one block for the memory of another.
  void exchangeBlock(std::vector<char> &other);
  /// The position of a shared address in the memory saved by
  /// `exchangeBlock`.
  size_t offsetInBlock(const char *address);
  /// A thread's private memory from here on.
  void setStack(const char *begin, const char *end) {
    stackBegin = begin;
    stackEnd = end;
  }

  /// Returns whether all of it exists.
  bool holds(const char *address, size_t bytes);

  void beginLaunch() {
    ++launch;
    readers.clear();
  }
  /// Returns an error; empty: none.
  std::string access(const char *address, size_t bytes, bool writes,
                     const Access &access);

  /// For concurrent blocks.
  Ordering ordering;

private:
  /// The last access to a byte in this launch: one reader, and whether other
  /// threads, groups or blocks read it without an order.
  struct Shadow {
    uint32_t launch;
    bool isWritten, isRead, byThreads, byGroups, byBlocks;
    Access writer, reader;
  };
  struct Region {
    size_t bytes = 0;
    Shadow *shadows = nullptr; // one for each byte; pages come as they are used
    bool isOwn = false, isOfBlock = false;
    std::string name;
  };
  using Regions = std::map<const char *, Region>;

  void insert(const char *address, Region region);
  bool seesAllReaders(const Shadow &shadow, const Access &now) const;
  bool isFreeToWrite(const Shadow &shadow, const Access &now) const;
  void read(Shadow &shadow, const Access &now);
  std::string accessWord(Region &region, size_t at, bool writes,
                         const Access &access);
  Regions::iterator find(const char *address);
  Regions regions;
  /// For data that several concurrent blocks have read: the time of each one's
  /// last read.
  std::unordered_map<const Shadow *, Ordering::Times> readers;
  Regions::iterator recent = regions.end();
  const char *stackBegin = nullptr, *stackEnd = nullptr;
  uint32_t launch = 0;
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_MEMORY_H
