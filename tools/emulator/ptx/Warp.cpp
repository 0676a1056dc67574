//===- Warp.cpp - the warps of blocks that run together -------------------===//

#include "tools/emulator/ptx/Warp.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

using namespace fovea::emulator;
using namespace fovea::emulator::ptx;

Races &fovea::emulator::ptx::races() {
  static auto *own = new Races;
  return *own;
}

//===----------------------------------------------------------------------===//
// A warp
//===----------------------------------------------------------------------===//

Warp::Warp(Wave &wave, Block &block, uint32_t number)
    : wave(wave), block(block), number(number), entry(wave.entry),
      file(wave.entry.numRegisters) {
  uint32_t count = std::min(lanes, wave.grid.threads - number * lanes);
  live = count == lanes ? everyLane : (uint32_t(1) << count) - 1;
  groups.push_back({0, live, false});
  registers = entry.maxRegisters;
  uint32_t ownNumber = machine().fault == Fault::Blocks ? 0 : block.number;
  for (const auto &[name, place] : entry.special)
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      file[place].known = everyLane;
      file[place].lane[lane] = name == "%tid.x"      ? number * lanes + lane
                               : name == "%laneid"   ? lane
                               : name == "%ctaid.x"  ? ownNumber
                               : name == "%ntid.x"   ? wave.grid.threads
                               : name == "%nctaid.x" ? wave.grid.blocks
                               : name == "%cluster_ctarank" ? block.rank
                                                            : wave.grid.cluster;
    }
}

const Register &Warp::source(Operand operand) const {
  return operand.isConstant ? entry.constants[operand.number]
                            : file[operand.number];
}

void Warp::set(Operand operand, uint32_t lane, uint64_t value, bool isKnown) {
  Register &to = file[operand.number];
  to.lane[lane] = value;
  uint32_t bit = uint32_t(1) << lane;
  to.known = isKnown ? to.known | bit : to.known & ~bit;
}

Step Warp::fail(const Instruction &code, uint32_t lane,
                const std::string &what) {
  wave.fail(fmt::format("thread {} of block {} at line {} of the PTX {}",
                        number * lanes + lane, block.number, code.line, what));
  return Step::Fail;
}

std::string Warp::where() const {
  std::string result =
      fmt::format("warp {} of block {} at ", number, block.number);
  for (size_t i = 0; i < groups.size(); ++i)
    result += fmt::format("{}line {}", i == 0 ? "" : " and ",
                          entry.code[groups[i].at].line);
  return result;
}

Agent &Warp::agent(uint32_t half) {
  return wave.agents[block.first + 3 * number + half];
}

/// Of an instruction, the lanes whose guard holds.
bool Warp::meetsMask(const Instruction &code, uint32_t &mask) {
  const Register &guard = file[code.guard.number];
  if (uint32_t unknown = mask & ~guard.known) {
    fail(code, std::countr_zero(unknown), "decides by what nobody has set");
    return false;
  }
  uint32_t all = mask;
  mask = 0;
  forLanes(all, [&](uint32_t lane) {
    if ((guard.lane[lane] != 0) != code.isGuardNegated)
      mask |= uint32_t(1) << lane;
  });
  return true;
}

/// The lowest first; those at the same instruction come together.
void Warp::order() {
  std::ranges::sort(groups, {}, &Group::at);
  size_t last = 0;
  for (size_t i = 1; i < groups.size(); ++i)
    if (groups[i].at == groups[last].at) {
      groups[last].mask |= groups[i].mask;
      groups[last].rests = false;
    } else
      groups[++last] = groups[i];
  if (!groups.empty())
    groups.resize(last + 1);
  std::erase_if(groups, [](const Group &group) { return group.mask == 0; });
}

void Warp::endLanes(Group &group, uint32_t mask) {
  live &= ~mask;
  group.mask &= ~mask;
  ++group.at;
  ++wave.effects;
}

/// Runs a group until it waits, parts, or meets another one. Returns whether it
/// did something.
bool Warp::execute(size_t which, uint64_t &budget) {
  uint32_t next = which + 1 < groups.size() ? groups[which + 1].at
                                            : static_cast<uint32_t>(-1);
  for (bool didSomething = false;; didSomething = true) {
    Group &group = groups[which];
    if (group.at >= next || budget == 0)
      return didSomething;
    --budget;
    const Instruction &code = entry.code[group.at];
    uint32_t mask = group.mask;
    if (code.guard.isThere() && !meetsMask(code, mask))
      return false;
    if (mask == 0) {
      ++group.at;
    } else if (code.flow == Flow::End) {
      endLanes(group, mask);
      return true;
    } else if (code.flow == Flow::Branch) {
      if (mask == group.mask) {
        bool isBack = code.target < group.at;
        group.at = code.target;
        if (isBack)
          return true;
        continue;
      }
      group.mask &= ~mask;
      ++group.at;
      groups.push_back({code.target, mask, false});
      return true;
    } else {
      switch (code.run(*this, code, mask)) {
      case Step::Next:
        ++group.at;
        break;
      case Step::Wait:
        group.rests = true;
        return didSomething;
      case Step::Yield:
        ++group.at;
        group.rests = true;
        return true;
      case Step::Fail:
        return false;
      }
    }
  }
}

bool Warp::run(uint64_t budget) {
  for (Group &group : groups)
    group.rests = false;
  bool didSomething = false;
  while (wave.failure.empty() && budget != 0) {
    order();
    // Lanes may run in any order until they meet.
    bool isReversed = machine().schedule == Schedule::Descending;
    size_t ready = groups.size();
    for (size_t i = 0; i < groups.size(); ++i)
      if (!groups[i].rests && (isReversed || ready == groups.size()))
        ready = i;
    if (ready == groups.size())
      break;
    didSomething |= execute(ready, budget);
  }
  order();
  return didSomething;
}

//===----------------------------------------------------------------------===//
// Who knows what
//===----------------------------------------------------------------------===//

void Warp::synchronise(uint32_t mask) {
  Clocks all;
  uint32_t halves = 0;
  for (uint32_t half = 0; half < 2; ++half) {
    uint32_t own = live >> 16 * half & 0xFFFF;
    if (own == 0 || (mask >> 16 * half & own) != own)
      continue;
    halves |= 1 << half;
    ptx::join(all, agent(half).seen);
  }
  for (uint32_t half = 0; half < 2; ++half)
    if (halves >> half & 1) {
      ptx::join(agent(half).seen, all);
      agent(half).together = agent(half).clock();
      agent(half).tick();
    }
}

void Warp::join(const Clocks &clocks) {
  for (uint32_t half = 0; half < 2; ++half)
    ptx::join(agent(half).seen, clocks);
}

//===----------------------------------------------------------------------===//
// A wave
//===----------------------------------------------------------------------===//

bool Wave::isEager() {
  Machine &own = machine();
  return own.schedule == Schedule::Ascending ||
         (own.schedule == Schedule::Shuffled && own.draw() % 2 == 0);
}

std::vector<Warp *> Wave::turn() {
  std::vector<Warp *> all;
  for (const auto &block : blocks)
    for (const auto &warp : block->warps)
      if (!warp->isDone())
        all.push_back(warp.get());
  Machine &own = machine();
  if (own.schedule == Schedule::Descending)
    std::ranges::reverse(all);
  if (own.schedule == Schedule::Shuffled)
    for (size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[own.draw() % i]);
  return all;
}

void Wave::run(const std::vector<uint32_t> &numbers) {
  uint32_t warps = (grid.threads + lanes - 1) / lanes;
  uint32_t numAgents = static_cast<uint32_t>(numbers.size()) * warps * 3;
  races().beginWave(numAgents);
  agents.assign(numAgents, {});
  for (uint32_t i = 0; i < numAgents; ++i) {
    agents[i].number = i;
    agents[i].seen.assign(numAgents, 0);
    agents[i].seen[i] = 1;
  }
  uint64_t bytes = entry.sharedBytes + grid.sharedBytes;
  for (uint32_t number : numbers) {
    auto block = std::make_unique<Block>();
    block->number = number;
    block->rank = number % grid.cluster;
    block->first = static_cast<uint32_t>(blocks.size()) * warps * 3;
    block->memory.assign(bytes, static_cast<char>(0xFF));
    block->known.assign(bytes, 0);
    block->shadows.resize(bytes);
    for (uint32_t warp = 0; warp < warps; ++warp)
      block->warps.push_back(std::make_unique<Warp>(*this, *block, warp));
    blocks.push_back(std::move(block));
  }
  // So long nothing that others may wait for has happened.
  constexpr uint32_t patience = 100, longTurn = 1 << 20;
  for (uint32_t idle = 0;;) {
    std::vector<Warp *> all = turn();
    if (all.empty())
      return checkEnd();
    uint64_t before = effects;
    bool didSomething = false;
    for (Warp *warp : all) {
      uint64_t budget = machine().schedule == Schedule::Shuffled
                            ? 1 + machine().draw() % 4096
                            : longTurn;
      didSomething |= warp->run(budget);
      if (!failure.empty())
        return;
    }
    bool isLate =
        machine().schedule == Schedule::Shuffled && machine().draw() % 2 == 0;
    if (effects == before || isLate)
      finishSome();
    if (!failure.empty())
      return;
    idle = effects == before ? idle + 1 : 0;
    if (effects != before)
      continue;
    if (didSomething ? idle < patience * (longTurn >> 12) : false)
      continue;
    std::string waits = all.front()->where();
    for (Warp *warp : all)
      if (warp->hasArrived == false) {
        waits = warp->where();
        break;
      }
    return fail(fmt::format("{} waits for threads that never come", waits));
  }
}

static std::vector<uint32_t> blocksInOrder(uint32_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  Machine &own = machine();
  if (own.schedule == Schedule::Descending)
    std::ranges::reverse(numbers);
  if (own.schedule == Schedule::Shuffled)
    for (size_t i = count; i > 1; --i)
      std::swap(numbers[i - 1], numbers[own.draw() % i]);
  return numbers;
}

std::string fovea::emulator::ptx::launch(const Entry &entry, const Grid &grid,
                                         const int64_t *list, int64_t units,
                                         bool isTogether) {
  if (entry.maxThreads != 0 && grid.threads > entry.maxThreads)
    return fmt::format("{} threads are launched where {} are allowed",
                       grid.threads, entry.maxThreads);
  std::vector<char> parameters(entry.listBytes + sizeof(units));
  std::memcpy(parameters.data(), list, entry.listBytes);
  std::memcpy(parameters.data() + entry.listBytes, &units, sizeof(units));
  races().beginLaunch();
  machine().beginDraws();
  uint32_t together = isTogether ? grid.blocks : grid.cluster;
  for (uint32_t first : blocksInOrder(grid.blocks / together)) {
    std::vector<uint32_t> numbers(together);
    std::iota(numbers.begin(), numbers.end(), first * together);
    Wave wave(entry, grid, parameters);
    wave.run(numbers);
    if (!wave.failure.empty())
      return wave.failure;
  }
  return "";
}
