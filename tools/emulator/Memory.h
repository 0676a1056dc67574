//===- Memory.h - what kernels read and write -------------------*- C++ -*-===//
//
// Every access of a kernel is asked about here: whether the memory is there,
// and whether another thread has something to do with it at the same time.
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

/// Which thread makes an access, and what it has waited for by then: accesses
/// of two threads have an order if they are of one block and a barrier of the
/// block stands between, or of one group and one of the group, or if the later
/// one's block sees what the other one's did by then.
struct Access {
  uint32_t block = 0, thread = 0;
  uint32_t blockWaits = 0, groupWaits = 0;
  uint32_t time = 0;
};

class Memory {
public:
  /// Filled with numbers that are none.
  void *allocate(size_t bytes);
  bool free(void *memory);
  /// Memory that is there anyway: of the kernels themselves. What a block
  /// shares is another block's afterwards.
  void add(void *memory, size_t bytes, const std::string &name,
           bool isOfBlock = false);
  /// Memory that was added has so many bytes from here on.
  void resize(void *memory, size_t bytes) {
    regions.at(static_cast<char *>(memory)).bytes = bytes;
    recent = regions.end();
  }
  /// What the next block shares is nothing that it knows.
  void beginBlock();
  /// Changes what a block shares for what another one does.
  void exchangeBlock(std::vector<char> &other);
  /// Where an address that a block shares is among what `exchangeBlock` has of
  /// it.
  size_t offsetInBlock(const char *address);
  /// What a thread has for itself from here on.
  void setStack(const char *begin, const char *end) {
    stackBegin = begin;
    stackEnd = end;
  }

  /// Whether it is all there.
  bool holds(const char *address, size_t bytes);

  void beginLaunch() {
    ++launch;
    readers.clear();
  }
  /// What is wrong with it; empty: nothing.
  std::string access(const char *address, size_t bytes, bool writes,
                     const Access &access);

  /// Of blocks that run at the same time.
  Ordering ordering;

private:
  /// Who touched a byte last in this launch: of reads one, and whether other
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
  /// Of what several blocks that run at the same time have read: when each did
  /// so last.
  std::unordered_map<const Shadow *, Ordering::Times> readers;
  Regions::iterator recent = regions.end();
  const char *stackBegin = nullptr, *stackEnd = nullptr;
  uint32_t launch = 0;
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_MEMORY_H
