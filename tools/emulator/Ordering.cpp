//===- Ordering.cpp - what blocks know of each other ----------------------===//

#include "tools/emulator/Ordering.h"

#include <algorithm>

using namespace fovea::emulator;

void Ordering::begin(uint32_t count) {
  Times none(count, 0);
  blocks.assign(count, {none, none, none, none});
  released.clear();
  clock = 1;
}

void Ordering::join(Times &times, const Times &more) {
  for (size_t block = 0; block < more.size(); ++block)
    times[block] = std::max(times[block], more[block]);
}

bool Ordering::seesAll(uint32_t block, const Times &times) const {
  for (uint32_t other = 0; other < times.size(); ++other)
    if (times[other] != 0 && !sees(block, other, times[other]))
      return false;
  return true;
}

void Ordering::waited(uint32_t block) {
  if (blocks.empty())
    return;
  Block &own = blocks[block];
  own.seen = own.acquired;
  own.seen[block] = own.acquired[block] = ++clock;
}

void Ordering::fence(uint32_t block) {
  if (blocks.empty())
    return;
  Block &own = blocks[block];
  join(own.acquired, own.read);
  own.fenced = own.acquired;
}

void Ordering::read(uint32_t block, const void *address, bool acquires) {
  if (blocks.empty())
    return;
  auto found = released.find(address);
  if (found == released.end())
    return;
  Block &own = blocks[block];
  join(acquires ? own.acquired : own.read, found->second);
}

void Ordering::write(uint32_t block, const void *address, bool releases,
                     bool joins) {
  if (blocks.empty())
    return;
  const Block &own = blocks[block];
  Times &times = released[address];
  if (!joins || times.empty())
    times.assign(blocks.size(), 0);
  join(times, releases ? own.acquired : own.fenced);
}
