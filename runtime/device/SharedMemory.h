//===- SharedMemory.h - memory that a device reads as well ------*- C++ -*-===//
//
// Allocates all memory that a kernel may read or write. Without a device it is
// plain memory. The host accesses memory of the device by copies alone.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DEVICE_SHAREDMEMORY_H
#define FOVEA_RUNTIME_DEVICE_SHAREDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace fovea::runtime {

/// Allocates at a multiple of `alignment`, at most 256 with a device; null if
/// there is no more.
void *allocateShared(size_t bytes, size_t alignment);
/// The same in the manner of `operator new`: fails if there is no more.
void *newShared(size_t bytes, size_t alignment);
void freeShared(void *memory);
/// The same for a few numbers that host and device exchange in each step of a
/// search. They stay on the host: a page of managed memory would move to each
/// side that touches it.
void *newExchanged(size_t bytes, size_t alignment);
/// Allocates memory of the host that a device accesses in place, and copies
/// fast; null if there is none.
void *allocatePinned(size_t bytes);
/// Returns whether a device can read it; always true without a device.
bool isShared(const void *memory);

/// Allocates memory of the device in the manner of `allocateShared`; without a
/// device, or with one that has none of its own, the host may access it.
void *allocateOwn(size_t bytes, size_t alignment);
/// Returns whether the host cannot access it.
bool isOwn(const void *memory);
/// Copies bytes whatever memory has them, after all launches.
void copyBytes(void *to, const void *from, size_t bytes);

/// Bytes that the host reads: in place, or a copy of those of the device.
class HostView {
public:
  HostView(const void *memory, size_t bytes);
  const std::byte *data() const { return place; }

private:
  std::vector<std::byte> copy;
  const std::byte *place;
};

template <typename T, void *(*allocateNew)(size_t, size_t)>
struct SharedAllocator {
  using value_type = T;
  template <typename Other> struct rebind {
    using other = SharedAllocator<Other, allocateNew>;
  };
  SharedAllocator() = default;
  template <typename Other>
  SharedAllocator(const SharedAllocator<Other, allocateNew> &) {}
  T *allocate(size_t count) {
    return static_cast<T *>(
        allocateNew(count * sizeof(T), alignof(std::max_align_t)));
  }
  void deallocate(T *memory, size_t) { freeShared(memory); }
  bool operator==(const SharedAllocator &) const = default;
};

template <typename T>
using SharedVector = std::vector<T, SharedAllocator<T, newShared>>;
template <typename T>
using ExchangedVector = std::vector<T, SharedAllocator<T, newExchanged>>;

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_SHAREDMEMORY_H
