//===- SharedMemory.h - memory that a device reads as well ------*- C++ -*-===//
//
// Whatever a kernel may read or write comes from here. Without a device it is
// plain memory.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DEVICE_SHAREDMEMORY_H
#define FOVEA_RUNTIME_DEVICE_SHAREDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace fovea::runtime {

/// At a multiple of `alignment`, at most 256 where there is a device; null:
/// there is no more.
void *allocateShared(size_t bytes, size_t alignment);
/// The same as `operator new` does it: where there is no more it fails.
void *newShared(size_t bytes, size_t alignment);
void freeShared(void *memory);
/// Whether a device can read it: anything where there is none.
bool isShared(const void *memory);

template <typename T> struct SharedAllocator {
  using value_type = T;
  SharedAllocator() = default;
  template <typename Other> SharedAllocator(const SharedAllocator<Other> &) {}
  T *allocate(size_t count) {
    return static_cast<T *>(
        newShared(count * sizeof(T), alignof(std::max_align_t)));
  }
  void deallocate(T *memory, size_t) { freeShared(memory); }
  bool operator==(const SharedAllocator &) const = default;
};

template <typename T> using SharedVector = std::vector<T, SharedAllocator<T>>;

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_SHAREDMEMORY_H
