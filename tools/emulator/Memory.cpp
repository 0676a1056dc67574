//===- Memory.cpp - what kernels read and write ---------------------------===//

#include "tools/emulator/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

using namespace fovea::emulator;

/// The guard zone before and after each allocation.
static constexpr size_t gap = 256;

void Memory::insert(const char *address, Region region) {
  // Zero without being written to.
  void *shadows =
      mmap(nullptr, region.bytes * sizeof(Shadow), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  region.shadows =
      shadows == MAP_FAILED ? nullptr : static_cast<Shadow *>(shadows);
  regions[address] = std::move(region);
  recent = regions.end();
}

void *Memory::allocate(size_t bytes) {
  size_t whole = (bytes + 2 * gap + gap - 1) / gap * gap;
  auto *memory = static_cast<char *>(std::aligned_alloc(gap, whole));
  if (!memory)
    return nullptr;
  // As f32, f64 and as an index it causes visible errors.
  std::memset(memory, 0xFF, whole);
  Region region;
  region.bytes = bytes;
  region.isOwn = true;
  region.name = "an allocation";
  insert(memory + gap, std::move(region));
  return memory + gap;
}

bool Memory::free(void *memory) {
  auto found = regions.find(static_cast<char *>(memory));
  if (found == regions.end() || !found->second.isOwn)
    return false;
  if (found->second.shadows)
    munmap(found->second.shadows, found->second.bytes * sizeof(Shadow));
  std::free(static_cast<char *>(memory) - gap);
  regions.erase(found);
  recent = regions.end();
  return true;
}

void Memory::add(void *memory, size_t bytes, const std::string &name,
                 bool isOfBlock) {
  Region region;
  region.isOfBlock = isOfBlock;
  region.bytes = bytes;
  region.name = name;
  insert(static_cast<char *>(memory), std::move(region));
}

void Memory::beginBlock() {
  for (const auto &[address, region] : regions)
    if (region.isOfBlock)
      std::memset(const_cast<char *>(address), 0xFF, region.bytes);
}

void Memory::exchangeBlock(std::vector<char> &other) {
  size_t at = 0;
  for (const auto &[address, region] : regions) {
    if (!region.isOfBlock)
      continue;
    if (other.size() < at + region.bytes)
      other.resize(at + region.bytes);
    auto *own = const_cast<char *>(address);
    std::swap_ranges(own, own + region.bytes, other.data() + at);
    at += region.bytes;
  }
}

size_t Memory::offsetInBlock(const char *address) {
  size_t at = 0;
  for (const auto &[begin, region] : regions) {
    if (!region.isOfBlock)
      continue;
    if (address >= begin && address < begin + region.bytes)
      return at + (address - begin);
    at += region.bytes;
  }
  return at;
}

Memory::Regions::iterator Memory::find(const char *address) {
  auto holds = [&](Regions::iterator region) {
    return region != regions.end() && address >= region->first &&
           address < region->first + region->second.bytes;
  };
  if (holds(recent))
    return recent;
  auto after = regions.upper_bound(address);
  if (after == regions.begin())
    return regions.end();
  --after;
  if (!holds(after))
    return regions.end();
  return recent = after;
}

bool Memory::holds(const char *address, size_t bytes) {
  auto found = find(address);
  return found != regions.end() &&
         address + bytes <= found->first + found->second.bytes;
}

static bool isSameGroup(const Access &before, const Access &now) {
  constexpr uint32_t group = 16;
  return before.block == now.block &&
         before.thread / group == now.thread / group;
}
/// Returns whether all threads of the block now, or of another one, see it.
static bool isOver(const Ordering &ordering, const Access &before,
                   const Access &now) {
  return before.block == now.block
             ? before.blockWaits != now.blockWaits
             : ordering.sees(now.block, before.block, before.time);
}
/// The same, or whether a barrier of the group separates the accesses.
static bool isApart(const Ordering &ordering, const Access &before,
                    const Access &now) {
  return isOver(ordering, before, now) ||
         (isSameGroup(before, now) && before.groupWaits != now.groupWaits);
}
static bool isSameThread(const Access &before, const Access &now) {
  return before.block == now.block && before.thread == now.thread;
}

/// Blocks that do not run concurrently see nothing of each other.
bool Memory::seesAllReaders(const Shadow &shadow, const Access &now) const {
  return ordering.isOn() && ordering.seesAll(now.block, readers.at(&shadow));
}

bool Memory::isFreeToWrite(const Shadow &shadow, const Access &now) const {
  if (!shadow.isRead)
    return true;
  if (shadow.byBlocks)
    return seesAllReaders(shadow, now);
  // The last of several was the reader.
  if (shadow.byGroups)
    return isOver(ordering, shadow.reader, now);
  return isApart(ordering, shadow.reader, now) ||
         (!shadow.byThreads && isSameThread(shadow.reader, now));
}

void Memory::read(Shadow &shadow, const Access &now) {
  if (shadow.isRead &&
      (shadow.byBlocks   ? seesAllReaders(shadow, now)
       : shadow.byGroups ? isOver(ordering, shadow.reader, now)
                         : isApart(ordering, shadow.reader, now)))
    shadow.isRead = shadow.byThreads = shadow.byGroups = shadow.byBlocks =
        false;
  if (shadow.isRead) {
    shadow.byThreads |= !isSameThread(shadow.reader, now);
    shadow.byGroups |= !isSameGroup(shadow.reader, now);
    if (!shadow.byBlocks && shadow.reader.block != now.block) {
      shadow.byBlocks = true;
      if (ordering.isOn()) {
        Ordering::Times &times = readers[&shadow];
        times.assign(ordering.numBlocks(), 0);
        times[shadow.reader.block] = shadow.reader.time;
      }
    }
  }
  if (shadow.byBlocks && ordering.isOn())
    readers.at(&shadow)[now.block] = now.time;
  shadow.isRead = true;
  shadow.reader = now;
}

std::string Memory::access(const char *address, size_t bytes, bool writes,
                           const Access &now) {
  if (address >= stackBegin && address + bytes <= stackEnd)
    return "";
  auto found = find(address);
  const char *verb = writes ? "writes" : "reads";
  if (found == regions.end())
    return fmt::format("{} {} bytes where no memory is", verb, bytes);
  Region &region = found->second;
  size_t at = address - found->first;
  if (at + bytes > region.bytes)
    return fmt::format("{} bytes {} to {} of {} that has {}", verb, at,
                       at + bytes - 1, region.name, region.bytes);
  // Every access to a number touches its first byte, or the first byte of its
  // halves.
  constexpr size_t word = 4;
  std::string wrong;
  for (size_t part = 0; region.shadows && part < bytes && wrong.empty();
       part += word)
    wrong = accessWord(region, at + part, writes, now);
  return wrong;
}

std::string Memory::accessWord(Region &region, size_t at, bool writes,
                               const Access &now) {
  const char *verb = writes ? "writes" : "reads";
  Shadow &shadow = region.shadows[at];
  bool isOther = region.isOfBlock &&
                 ((shadow.isWritten && shadow.writer.block != now.block) ||
                  (shadow.isRead && shadow.reader.block != now.block));
  if (shadow.launch != launch || isOther) {
    shadow = Shadow();
    shadow.launch = launch;
  }
  auto race = [&](const Access &other, const char *what) {
    return fmt::format(
        "{} byte {} of {}, which thread {} of block {} {} at the "
        "same time",
        verb, at, region.name, other.thread, other.block, what);
  };
  if (shadow.isWritten && !isSameThread(shadow.writer, now) &&
      !isApart(ordering, shadow.writer, now))
    return race(shadow.writer, "writes");
  if (!writes) {
    read(shadow, now);
    return "";
  }
  if (!isFreeToWrite(shadow, now))
    return race(shadow.reader, "reads");
  shadow.isWritten = true;
  shadow.isRead = shadow.byThreads = shadow.byGroups = shadow.byBlocks = false;
  shadow.writer = now;
  return "";
}
