//===- Machine.cpp - the machine that a page in a browser has -------------===//
//
// One thread, no device, and memory within the browser's limit. Replaces
// ThreadPool.cpp, device/ and memory/MachineMemory.cpp of other platforms.
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"
#include "runtime/device/Device.h"
#include "runtime/device/OwnKernels.h"
#include "runtime/device/SharedMemory.h"
#include "runtime/memory/MachineMemory.h"
#include "runtime/search/BestSymbols.h"

#include <algorithm>
#include <new>

using namespace fovea::runtime;

int fovea_pool_threads(const FoveaPool *) { return 1; }

int64_t fovea_pool_thread(void) { return 0; }

void fovea_parallel(FoveaPool *, FoveaWork work, void *frame, int64_t units,
                    int64_t) {
  if (units > 0)
    work(frame, 0, units);
}

Device *Device::current() { return nullptr; }

void Device::readAtEnd(void *, const void *, size_t) {}

void *fovea::runtime::allocatePinned(size_t) { return nullptr; }

/// Addresses have 32 bits.
int64_t fovea::runtime::machineBytes() { return int64_t(1) << 32; }

void fovea::runtime::wishLargePages(void *, int64_t) {}

void *fovea::runtime::allocateShared(size_t bytes, size_t alignment) {
  bytes = std::max<size_t>(bytes, 1);
  return std::aligned_alloc(alignment,
                            (bytes + alignment - 1) / alignment * alignment);
}

void *fovea::runtime::newShared(size_t bytes, size_t alignment) {
  if (void *memory = allocateShared(bytes, alignment))
    return memory;
  // It ends the module (Answers.cpp).
  std::get_new_handler()();
  __builtin_unreachable();
}

void *fovea::runtime::newExchanged(size_t bytes, size_t alignment) {
  return newShared(bytes, alignment);
}

void *fovea::runtime::allocateOwn(size_t bytes, size_t alignment) {
  return allocateShared(bytes, alignment);
}

bool fovea::runtime::isOwn(const void *) { return false; }

void fovea::runtime::copyBytes(void *to, const void *from, size_t bytes) {
  if (bytes > 0)
    std::memcpy(to, from, bytes);
}

HostView::HostView(const void *memory, size_t)
    : place(static_cast<const std::byte *>(memory)) {}

void fovea::runtime::freeShared(void *memory) { std::free(memory); }

bool fovea::runtime::isShared(const void *) { return true; }

void fovea::runtime::copyRows(const std::vector<RowCopy> &rows) {
  for (const RowCopy &row : rows)
    std::memcpy(row.to, row.from, row.bytes);
}

void fovea::runtime::waitForDevice() {}

std::vector<BestSymbols> fovea::runtime::findBest(const std::byte *,
                                                  Program::Element, int64_t,
                                                  int64_t, int64_t) {
  return {};
}
