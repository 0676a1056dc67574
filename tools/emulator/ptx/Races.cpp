//===- Races.cpp - accesses that nothing orders ---------------------------===//

#include "tools/emulator/ptx/Races.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea::emulator::ptx;

void fovea::emulator::ptx::join(Clocks &clocks, const Clocks &more) {
  if (clocks.size() < more.size())
    clocks.resize(more.size());
  for (size_t i = 0; i < more.size(); ++i)
    clocks[i] = std::max(clocks[i], more[i]);
}

void Races::beginWave(uint32_t count) {
  ++wave;
  numAgents = count;
  sets.assign(1, {});
  freeSets.clear();
}

bool Races::isBefore(const Epoch &epoch, const Actor &now) const {
  // Blocks of another wave may run at any time.
  if (epoch.wave != wave)
    return epoch.wave < launch;
  if (epoch.agent == now.number && now.lane != Actor::none)
    return epoch.lane == now.lane || epoch.clock <= now.agent->together;
  return epoch.clock <= now.agent->seen[epoch.agent];
}

bool Races::areBefore(const Shadow &shadow, const Actor &now) const {
  if (shadow.others >= launch)
    return false;
  if (shadow.reader.wave != wave)
    return true;
  if (shadow.readers == 0)
    return isBefore(shadow.reader, now);
  const Clocks &all = sets[shadow.readers];
  for (uint32_t agent = 0; agent < numAgents; ++agent)
    if (all[agent] != 0 && all[agent] > now.agent->seen[agent])
      return false;
  // Only the last reader distinguishes the lanes of one agent.
  return isBefore(shadow.reader, now);
}

uint32_t Races::newSet() {
  if (freeSets.empty()) {
    sets.emplace_back(numAgents, 0);
    return static_cast<uint32_t>(sets.size() - 1);
  }
  uint32_t set = freeSets.back();
  freeSets.pop_back();
  std::fill(sets[set].begin(), sets[set].end(), 0);
  return set;
}

void Races::read(Shadow &shadow, const Actor &now) {
  if (shadow.reader.wave != wave) {
    if (shadow.reader.wave >= launch)
      shadow.others = shadow.reader.wave;
    shadow.readers = 0;
  } else if (shadow.readers == 0 && !isBefore(shadow.reader, now)) {
    shadow.readers = newSet();
    sets[shadow.readers][shadow.reader.agent] = shadow.reader.clock;
  }
  if (shadow.readers != 0)
    sets[shadow.readers][now.number] = now.clock;
  shadow.reader = {wave, now.clock, static_cast<uint16_t>(now.number),
                   now.lane};
}

std::string Races::describe(const Epoch &other, const char *verb) const {
  if (other.wave != wave)
    return fmt::format("which another block {} at the same time", verb);
  constexpr uint32_t agentsOfWarp = 3;
  uint32_t warp = other.agent / agentsOfWarp;
  if (other.lane == Actor::none)
    return fmt::format("which {} of warp {} {} at the same time",
                       "what is on its way", warp, verb);
  return fmt::format("which lane {} of warp {} {} at the same time",
                     other.lane + 16 * (other.agent % agentsOfWarp), warp,
                     verb);
}

std::string Races::access(Shadow &shadow, bool writes, const Actor &now,
                          bool isOfBlock) {
  // Another block had this shared memory.
  if (isOfBlock && shadow.writer.wave != wave && shadow.reader.wave != wave)
    shadow = Shadow();
  if (shadow.writer.wave >= launch && !isBefore(shadow.writer, now))
    return describe(shadow.writer, "writes");
  if (!writes) {
    read(shadow, now);
    return "";
  }
  if (shadow.reader.wave >= launch && !areBefore(shadow, now))
    return describe(shadow.reader, "reads");
  if (shadow.readers != 0 && shadow.reader.wave == wave)
    freeSets.push_back(shadow.readers);
  shadow.readers = 0;
  shadow.reader = {};
  shadow.writer = {wave, now.clock, static_cast<uint16_t>(now.number),
                   now.lane};
  return "";
}

bool Races::isShown(const Shadow &shadow,
                    const std::vector<Agent> &agents) const {
  return shadow.writer.lane == Actor::none ||
         shadow.writer.clock <= agents[shadow.writer.agent].shown;
}

Shadow &Races::ofGlobal(uint64_t address) {
  uint64_t key = address / bytesOfChunk;
  if (key != lastKey) {
    auto &chunk = chunks[key];
    if (!chunk)
      chunk = std::make_unique<Shadow[]>(bytesOfChunk);
    lastKey = key;
    lastChunk = chunk.get();
  }
  return lastChunk[address % bytesOfChunk];
}
