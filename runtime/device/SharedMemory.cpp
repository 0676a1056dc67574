//===- SharedMemory.cpp - memory that a device reads as well --------------===//

#include "runtime/device/SharedMemory.h"
#include "runtime/device/Device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

using namespace fovea::runtime;

namespace {
/// The device allocations and their sizes. Memory from before the device was
/// opened is not among them.
struct Blocks {
  enum Kind { Shared, Pinned, Own };
  struct Block {
    size_t bytes = 0;
    Kind kind = Shared;
  };
  std::mutex mutex;
  std::map<const void *, Block> all;

  void add(void *memory, size_t bytes, Kind kind) {
    std::lock_guard lock(mutex);
    all[memory] = {bytes, kind};
  }
  /// The block that an address is in, or null.
  const Block *find(const void *memory) const {
    auto after = all.upper_bound(memory);
    if (after == all.begin())
      return nullptr;
    --after;
    return static_cast<const char *>(memory) <
                   static_cast<const char *>(after->first) + after->second.bytes
               ? &after->second
               : nullptr;
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
  blocks().add(memory, bytes, Blocks::Shared);
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

void *fovea::runtime::allocatePinned(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  Device *device = Device::current();
  void *memory = device ? device->allocatePinned(bytes) : nullptr;
  if (memory)
    blocks().add(memory, bytes, Blocks::Pinned);
  return memory;
}

void *fovea::runtime::newExchanged(size_t bytes, size_t alignment) {
  if (void *memory = allocatePinned(bytes))
    return memory;
  return newShared(bytes, alignment);
}

void fovea::runtime::freeShared(void *memory) {
  if (!memory)
    return;
  if (Device *device = Device::current()) {
    Blocks &all = blocks();
    std::lock_guard lock(all.mutex);
    if (auto own = all.all.find(memory); own != all.all.end()) {
      bool isPinned = own->second.kind == Blocks::Pinned;
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
  return all.find(memory) != nullptr;
}

void *fovea::runtime::allocateOwn(size_t bytes, size_t alignment) {
  Device *device = Device::current();
  if (!device || !device->hasOwnMemory())
    return allocateShared(bytes, alignment);
  bytes = std::max<size_t>(bytes, 1);
  void *memory = device->allocateOwn(bytes);
  if (memory)
    blocks().add(memory, bytes, Blocks::Own);
  return memory;
}

bool fovea::runtime::isOwn(const void *memory) {
  if (!Device::current())
    return false;
  Blocks &all = blocks();
  std::lock_guard lock(all.mutex);
  const Blocks::Block *block = all.find(memory);
  return block && block->kind == Blocks::Own;
}

void fovea::runtime::copyBytes(void *to, const void *from, size_t bytes) {
  if (isOwn(to)) {
    HostView view(from, bytes);
    Device::current()->write(to, view.data(), bytes);
  } else if (isOwn(from)) {
    Device::current()->read(to, from, bytes);
  } else if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

HostView::HostView(const void *memory, size_t bytes)
    : place(static_cast<const std::byte *>(memory)) {
  if (!isOwn(memory))
    return;
  copy.resize(bytes);
  place = copy.data();
  Device::current()->read(copy.data(), memory, bytes);
}
