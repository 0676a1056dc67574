//===- OwnKernels.cpp - kernels that the runtime itself launches ----------===//

#include "runtime/device/OwnKernels.h"
#include "runtime/device/Device.h"
#include "runtime/device/SharedMemory.h"

#include <algorithm>

using namespace fovea::runtime;

bool fovea::runtime::launchOwn(const std::string &name, const void *memory,
                               std::span<const int64_t> list, int64_t units,
                               int64_t unitsAtOnce) {
  Device *device = Device::current();
  if (!device)
    return false;
  if (isShared(memory) &&
      device->launchOwn(name, {.list = list.data(),
                               .slots = static_cast<int64_t>(list.size()),
                               .units = units,
                               .threads = ownThreads,
                               .unitsAtOnce = unitsAtOnce}))
    return true;
  device->wait();
  return false;
}

/// Words of 32 bits, in shared memory.
static bool canCopy(const RowCopy &row) {
  constexpr int64_t word = 4;
  return (reinterpret_cast<uintptr_t>(row.to) |
          reinterpret_cast<uintptr_t>(row.from) |
          static_cast<uintptr_t>(row.bytes)) %
                 word ==
             0 &&
         isShared(row.to) && isShared(row.from);
}

/// Returns the next of `rows`; false if no program has the kernel.
static bool copyOnDevice(std::span<const RowCopy> rows) {
  int64_t pieces = 1;
  std::vector<int64_t> list = {0};
  for (const RowCopy &row : rows) {
    int64_t words = row.bytes / 4;
    pieces = std::max(pieces, (words + wordsOfPiece - 1) / wordsOfPiece);
    list.insert(list.end(), {inList(row.to), inList(row.from), words});
  }
  list[0] = pieces;
  // The kernel takes as many as its parameters allow.
  list.resize(1 + 3 * mostCopies);
  return launchOwn("fovea$copy", rows.front().to, list,
                   static_cast<int64_t>(rows.size()) * pieces,
                   /*unitsAtOnce=*/1);
}

void fovea::runtime::copyRows(const std::vector<RowCopy> &rows) {
  std::span<const RowCopy> left = rows;
  if (Device::current() && std::all_of(rows.begin(), rows.end(), canCopy))
    while (!left.empty()) {
      auto some = left.first(std::min<size_t>(left.size(), mostCopies));
      if (!copyOnDevice(some))
        break;
      left = left.subspan(some.size());
    }
  for (const RowCopy &row : left)
    copyBytes(row.to, row.from, row.bytes);
}

void fovea::runtime::waitForDevice() {
  if (Device *device = Device::current())
    device->wait();
}
