//===- Memory.cpp - what kernels read and write ---------------------------===//

#include "tools/emulator/Memory.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace fovea::emulator;

/// The guard zone before and after each allocation.
static constexpr size_t gap = 256;

void *Memory::allocate(size_t bytes) {
  size_t whole = (bytes + 2 * gap + gap - 1) / gap * gap;
  auto *memory = static_cast<char *>(std::aligned_alloc(gap, whole));
  if (!memory)
    return nullptr;
  // As f32, f64 and as an index it causes visible errors.
  std::memset(memory, 0xFF, whole);
  regions[memory + gap] = {bytes, true, nullptr};
  recent = regions.end();
  return memory + gap;
}

/// The addresses of memory apart, with a page after it.
static size_t reservedBytes(size_t bytes) {
  constexpr size_t page = 4096;
  return (bytes + 2 * page - 1) / page * page;
}

void *Memory::allocateApart(size_t bytes) {
  void *place = mmap(nullptr, reservedBytes(bytes), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    return nullptr;
  auto *content = static_cast<char *>(std::malloc(bytes));
  if (!content)
    return nullptr;
  std::memset(content, 0xFF, bytes);
  regions[static_cast<char *>(place)] = {bytes, true, content};
  recent = regions.end();
  return place;
}

bool Memory::free(void *memory) {
  auto found = regions.find(static_cast<char *>(memory));
  if (found == regions.end() || !found->second.isOwn)
    return false;
  if (found->second.content) {
    std::free(found->second.content);
    munmap(memory, reservedBytes(found->second.bytes));
  } else {
    std::free(static_cast<char *>(memory) - gap);
  }
  regions.erase(found);
  recent = regions.end();
  return true;
}

void Memory::add(void *memory, size_t bytes) {
  regions[static_cast<char *>(memory)] = {bytes, false, nullptr};
  recent = regions.end();
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

char *Memory::contentOf(uint64_t address) {
  auto *place = reinterpret_cast<char *>(address);
  auto found = find(place);
  return found == regions.end() || !found->second.content
             ? place
             : found->second.content + (place - found->first);
}
