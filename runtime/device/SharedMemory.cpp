//===- SharedMemory.cpp - memory that a device reads as well --------------===//

#include "runtime/device/SharedMemory.h"
#include "runtime/device/Device.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <vector>

using namespace fovea::runtime;

namespace {
/// The device allocations and their sizes. Memory from before the device was
/// opened is not among them.
struct Blocks {
  struct Block {
    size_t bytes = 0;
    bool isPinned = false;
  };
  std::mutex mutex;
  std::map<const void *, Block> all;

  void add(void *memory, size_t bytes, bool isPinned) {
    std::lock_guard lock(mutex);
    all[memory] = {bytes, isPinned};
  }
};
} // namespace

/// Lives until the process ends: static vectors are destroyed after it.
static Blocks &blocks() {
  static auto *all = new Blocks;
  return *all;
}

void *fovea::runtime::allocateShared(size_t bytes, size_t alignment) {
  bytes = std::max<size_t>(bytes, 1);
  Device *device = Device::current();
  if (!device)
    return std::aligned_alloc(alignment,
                              (bytes + alignment - 1) / alignment * alignment);
  void *memory = device->allocate(bytes);
  if (!memory)
    return nullptr;
  blocks().add(memory, bytes, /*isPinned=*/false);
  return memory;
}

void *fovea::runtime::newShared(size_t bytes, size_t alignment) {
  while (true) {
    if (void *memory = allocateShared(bytes, alignment))
      return memory;
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      std::__throw_bad_alloc();
    handler();
  }
}

void *fovea::runtime::newExchanged(size_t bytes, size_t alignment) {
  bytes = std::max<size_t>(bytes, 1);
  Device *device = Device::current();
  void *memory = device ? device->allocatePinned(bytes) : nullptr;
  if (!memory)
    return newShared(bytes, alignment);
  blocks().add(memory, bytes, /*isPinned=*/true);
  return memory;
}

void fovea::runtime::freeShared(void *memory) {
  if (!memory)
    return;
  if (Device *device = Device::current()) {
    Blocks &all = blocks();
    std::lock_guard lock(all.mutex);
    if (auto own = all.all.find(memory); own != all.all.end()) {
      bool isPinned = own->second.isPinned;
      all.all.erase(own);
      return isPinned ? device->freePinned(memory) : device->free(memory);
    }
  }
  std::free(memory);
}

bool fovea::runtime::isShared(const void *memory) {
  if (!Device::current())
    return true;
  Blocks &all = blocks();
  std::lock_guard lock(all.mutex);
  auto after = all.all.upper_bound(memory);
  if (after == all.all.begin())
    return false;
  --after;
  return static_cast<const char *>(memory) <
         static_cast<const char *>(after->first) + after->second.bytes;
}
