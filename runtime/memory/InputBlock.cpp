//===- InputBlock.cpp - what the host writes ahead of a run ---------------===//

#include "runtime/memory/InputBlock.h"
#include "runtime/device/Device.h"

#include <algorithm>

using namespace fovea::runtime;

size_t InputBlock::add(int64_t bytes) {
  int64_t begin = parts.empty() ? 0 : parts.back().begin + parts.back().bytes;
  begin = (begin + arrayAlignment - 1) / arrayAlignment * arrayAlignment;
  parts.push_back({begin, bytes});
  return parts.size() - 1;
}

Status InputBlock::reserve() {
  int64_t bytes = parts.empty() ? 0 : parts.back().begin + parts.back().bytes;
  Device *device = Device::current();
  bool hasOwn = device && device->hasOwnMemory();
  if (!written || bytes > capacity) {
    written.reset();
    auto room = static_cast<size_t>(std::max(bytes, arrayAlignment));
    void *memory = hasOwn ? allocatePinned(room) : nullptr;
    isPinned = memory != nullptr;
    if (!memory)
      memory = allocateShared(room, arrayAlignment);
    written.reset(static_cast<std::byte *>(memory));
    capacity = written ? static_cast<int64_t>(room) : 0;
    if (!written)
      return noMemoryFor(bytes);
  }
  if (!hasOwn) {
    read.clear();
    return Status::success();
  }
  read.resize(device->isEmulator() ? parts.size() : 1);
  for (size_t number = 0; number < read.size(); ++number)
    if (Status status = read[number].reserve(
            device->isEmulator() ? parts[number].bytes : bytes);
        status.failed())
      return status;
  return Status::success();
}

std::byte *InputBlock::device(size_t part) const {
  if (!isCopied())
    return host(part);
  if (Device::current()->isEmulator())
    return read[part].data();
  return read.front().data() + parts[part].begin;
}

void InputBlock::send() const {
  if (!isCopied() || parts.empty())
    return;
  Device *own = Device::current();
  auto copy = [&](std::byte *to, const std::byte *from, int64_t bytes) {
    if (isPinned)
      own->copy(to, from, bytes, /*toHost=*/false);
    else
      own->write(to, from, bytes);
  };
  if (!own->isEmulator())
    return copy(read.front().data(), written.get(),
                parts.back().begin + parts.back().bytes);
  for (size_t part = 0; part < parts.size(); ++part)
    copy(device(part), host(part), parts[part].bytes);
}
