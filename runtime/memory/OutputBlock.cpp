//===- OutputBlock.cpp - what the host reads after a run ------------------===//

#include "runtime/memory/OutputBlock.h"
#include "runtime/device/Device.h"

using namespace fovea::runtime;

/// More is copied when it is read.
static constexpr int64_t mostOfOne = int64_t(1) << 16,
                         mostOfAll = 16 * mostOfOne;

void OutputBlock::add(const void *from, int64_t bytes) {
  constexpr int64_t line = 64;
  int64_t begin = parts.empty() ? 0 : parts.back().begin + parts.back().bytes;
  begin = (begin + line - 1) / line * line;
  if (bytes > 0 && bytes <= mostOfOne && begin + bytes <= mostOfAll &&
      isOwn(from))
    parts.push_back({static_cast<const std::byte *>(from), begin, bytes});
}

void OutputBlock::order() {
  if (parts.empty())
    return;
  auto bytes = static_cast<size_t>(parts.back().begin + parts.back().bytes);
  if (memory.size() < bytes)
    memory = ExchangedVector<std::byte>(bytes);
  for (const Part &part : parts)
    Device::readAtEnd(memory.data() + part.begin, part.from, part.bytes);
}

const std::byte *OutputBlock::find(const void *from, int64_t bytes) const {
  const auto *place = static_cast<const std::byte *>(from);
  for (const Part &part : parts)
    if (place >= part.from && place + bytes <= part.from + part.bytes)
      return memory.data() + part.begin + (place - part.from);
  return nullptr;
}
