//===- Access.cpp - instructions that access memory -----------------------===//

#include "tools/emulator/ptx/Warp.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace fovea::emulator;
using namespace fovea::emulator::ptx;

bool Warp::address(const Instruction &code, uint32_t lane, Operand operand,
                   uint64_t &value) {
  const Register &from = source(operand);
  if (!(from.known >> lane & 1)) {
    fail(code, lane, "has an address that nobody has set");
    return false;
  }
  value = from.lane[lane] + operand.displacement;
  return true;
}

Block *Warp::blockOf(uint64_t &address, uint64_t bytes) {
  uint64_t rank = address >> rankShift;
  Block *own = rank == 0 ? &block : wave.peer(block, rank - 1);
  address = (address & ((1 << rankShift) - 1)) - sharedBegin;
  bool isThere = own && address < own->memory.size() &&
                 bytes <= own->memory.size() - address;
  return isThere ? own : nullptr;
}

Warp::Place Warp::place(const Instruction &code, uint32_t lane,
                        uint64_t address, uint32_t bytes, bool writes,
                        Space space, bool isSynchronising) {
  const char *verb = writes ? "writes" : "reads";
  if (address % bytes != 0) {
    fail(code, lane,
         fmt::format("{} {} bytes that are not aligned", verb, bytes));
    return {};
  }
  if (space == Space::Generic && address >= sharedWindow) {
    space = Space::Shared;
    address -= sharedWindow;
  }
  Block *own = nullptr;
  uint64_t offset = address;
  if (space == Space::Shared) {
    own = blockOf(offset, bytes);
    if (!own) {
      fail(code, lane,
           fmt::format("{} {} bytes at {} of its block, which has {}", verb,
                       bytes, static_cast<int64_t>(address - sharedBegin),
                       block.memory.size()));
      return {};
    }
  } else if (!machine().memory.holds(reinterpret_cast<char *>(address),
                                     bytes)) {
    fail(code, lane,
         fmt::format("{} {} bytes where no memory is", verb, bytes));
    return {};
  }
  if (machine().isWatched && !isSynchronising) {
    Agent &agent = agentOf(lane);
    Actor now{&agent, agent.number, agent.clock(),
              static_cast<uint16_t>(lane % 16)};
    for (uint32_t part = 0; part < bytes; ++part) {
      Shadow &shadow = space == Space::Shared
                           ? own->shadows[offset + part]
                           : races().ofGlobal(address + part);
      std::string wrong =
          races().access(shadow, writes, now, space == Space::Shared);
      if (wrong.empty())
        continue;
      fail(code, lane, fmt::format("{} a number {}", verb, wrong));
      return {};
    }
  }
  if (space == Space::Shared)
    return {own->memory.data() + offset, own->known.data() + offset};
  return {machine().memory.contentOf(address), nullptr};
}

static bool isKnown(const Warp::Place &place, uint32_t bytes) {
  return !place.known || std::all_of(place.known, place.known + bytes,
                                     [](char known) { return known != 0; });
}

static Step loadParameters(Warp &warp, const Instruction &code, uint32_t mask) {
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    uint64_t address;
    if (!warp.address(code, lane, code.operands[code.count], address))
      return false;
    address -= parametersBegin;
    if (address + code.count * code.bytes > warp.wave.parameters.size()) {
      warp.fail(code, lane, "reads what is no parameter");
      return false;
    }
    for (uint32_t i = 0; i < code.count; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, &warp.wave.parameters[address + i * code.bytes],
                  code.bytes);
      warp.set(code.operands[i], lane, value);
    }
    return true;
  });
  return isGood ? Step::Next : Step::Fail;
}

/// Another block may have written what a read of a synchronising word saw.
static void acquire(Warp &warp, const Instruction &code, uint32_t lane,
                    uint64_t address) {
  auto found = warp.wave.released.find(address);
  if (found == warp.wave.released.end())
    return;
  Agent &agent = warp.agentOf(lane);
  join(code.order == Order::Acquire ? agent.seen : agent.read, found->second);
}

static Step load(Warp &warp, const Instruction &code, uint32_t mask) {
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    uint64_t address;
    if (!warp.address(code, lane, code.operands[code.count], address))
      return false;
    Warp::Place place =
        warp.place(code, lane, address, code.count * code.bytes, false,
                   code.space, code.order != Order::Weak);
    if (!place.bytes)
      return false;
    if (code.order != Order::Weak)
      acquire(warp, code, lane, address);
    for (uint32_t i = 0; i < code.count; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, place.bytes, code.bytes);
      if (code.operands[i].isThere())
        warp.set(code.operands[i], lane, value, isKnown(place, code.bytes));
      place.bytes += code.bytes;
      if (place.known)
        place.known += code.bytes;
    }
    return true;
  });
  // Who polls lets others run.
  return !isGood                     ? Step::Fail
         : code.order != Order::Weak ? Step::Yield
                                     : Step::Next;
}

static Step store(Warp &warp, const Instruction &code, uint32_t mask) {
  ++warp.wave.effects;
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    uint64_t address;
    if (!warp.address(code, lane, code.operands[0], address))
      return false;
    Warp::Place place = warp.place(code, lane, address, code.count * code.bytes,
                                   true, code.space, code.order != Order::Weak);
    if (!place.bytes)
      return false;
    Agent &agent = warp.agentOf(lane);
    if (code.order == Order::Release)
      agent.fenced = agent.seen;
    if (code.order != Order::Weak) {
      warp.wave.released[address] = agent.fenced;
      agent.tick();
    }
    for (uint32_t i = 0; i < code.count; ++i) {
      const Register &from = warp.source(code.operands[1 + i]);
      bool isSet = from.known >> lane & 1;
      std::memcpy(place.bytes + i * code.bytes, &from.lane[lane], code.bytes);
      if (place.known) {
        std::memset(place.known + i * code.bytes, isSet, code.bytes);
      } else if (!isSet) {
        warp.fail(code, lane, "writes what nobody has set");
        return false;
      }
    }
    return true;
  });
  return isGood ? Step::Next : Step::Fail;
}

static Step addAtomically(Warp &warp, const Instruction &code, uint32_t mask) {
  ++warp.wave.effects;
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    uint64_t address;
    if (!warp.address(code, lane, code.operands[1], address))
      return false;
    Warp::Place place = warp.place(code, lane, address, 4, true, code.space,
                                   /*isSynchronising=*/true);
    const Register &more = warp.source(code.operands[2]);
    if (!place.bytes)
      return false;
    if (!(more.known >> lane & 1)) {
      warp.fail(code, lane, "adds what nobody has set");
      return false;
    }
    uint32_t value;
    std::memcpy(&value, place.bytes, 4);
    uint32_t sum = value + static_cast<uint32_t>(more.lane[lane]);
    std::memcpy(place.bytes, &sum, 4);
    warp.set(code.operands[0], lane, value);
    acquire(warp, code, lane, address);
    Agent &agent = warp.agentOf(lane);
    join(warp.wave.released[address], agent.fenced);
    agent.tick();
    return true;
  });
  return isGood ? Step::Yield : Step::Fail;
}

static Step fence(Warp &warp, const Instruction &code, uint32_t mask) {
  for (uint32_t half = 0; half < 2; ++half)
    if (mask >> 16 * half & 0xFFFF) {
      Agent &agent = warp.agent(half);
      join(agent.seen, agent.read);
      agent.fenced = agent.seen;
      agent.tick();
    }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Matrices, and copies of lanes
//===----------------------------------------------------------------------===//

/// Each lane has the address of a row of 8 half words; a matrix has 8 rows.
static Step loadMatrices(Warp &warp, const Instruction &code, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  constexpr uint32_t rowBytes = 16;
  Warp::Place rows[lanes];
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    uint64_t address;
    if (!warp.address(code, lane, code.operands[4], address))
      return false;
    rows[lane] =
        warp.place(code, lane, address, rowBytes, false, Space::Shared, false);
    return rows[lane].bytes != nullptr;
  });
  if (!isGood || mask != everyLane)
    return isGood ? warp.fail(code, 0, "lacks lanes of its warp") : Step::Fail;
  for (uint32_t matrix = 0; matrix < 4; ++matrix)
    forLanes(mask, [&](uint32_t lane) {
      uint32_t value = 0;
      bool isSet = true;
      for (uint32_t half = 0; half < 2; ++half) {
        uint32_t row = lane / 4, column = lane % 4 * 2 + half;
        if (code.isTurned)
          std::swap(row, column);
        Warp::Place place = rows[8 * matrix + row];
        uint16_t element;
        std::memcpy(&element, place.bytes + 2 * column, 2);
        value |= uint32_t(element) << 16 * half;
        isSet &= place.known[2 * column] && place.known[2 * column + 1];
      }
      warp.set(code.operands[matrix], lane, value, isSet);
    });
  return Step::Next;
}

constexpr uint32_t copyBytes = 16;

static bool bring(Warp &warp, const Instruction &code, const LaneCopy &copy) {
  Warp::Place to = warp.place(code, copy.lane, copy.to, copyBytes, true,
                              Space::Shared, false);
  if (!to.bytes)
    return false;
  std::memcpy(to.bytes, machine().memory.contentOf(copy.from), copyBytes);
  std::memset(to.known, 1, copyBytes);
  return true;
}

/// Until it is awaited, nobody knows what is at its target.
static Step beginCopy(Warp &warp, const Instruction &code, uint32_t mask) {
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    LaneCopy copy{.lane = lane, .group = warp.numCopyGroups};
    if (!warp.address(code, lane, code.operands[0], copy.to) ||
        !warp.address(code, lane, code.operands[1], copy.from))
      return false;
    if (warp.source(code.operands[2]).lane[lane] != copyBytes) {
      warp.fail(code, lane, "copies other than 16 bytes");
      return false;
    }
    Warp::Place from = warp.place(code, lane, copy.from, copyBytes, false,
                                  Space::Global, false);
    Warp::Place to =
        warp.place(code, lane, copy.to, copyBytes, true, Space::Shared, false);
    if (!from.bytes || !to.bytes)
      return false;
    std::memset(to.known, 0, copyBytes);
    warp.copies.push_back(copy);
    return true;
  });
  return isGood ? Step::Next : Step::Fail;
}

static Step endGroup(Warp &warp, const Instruction &code, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  ++warp.numCopyGroups;
  return Step::Next;
}

static Step waitForGroups(Warp &warp, const Instruction &code, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  uint64_t allBut = warp.source(code.operands[0]).lane[0];
  auto isAwaited = [&](const LaneCopy &copy) {
    return copy.group + allBut < warp.numCopyGroups;
  };
  for (const LaneCopy &copy : warp.copies)
    if (isAwaited(copy) && !bring(warp, code, copy))
      return Step::Fail;
  std::erase_if(warp.copies, isAwaited);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static bool consume(std::string_view &name, std::string_view prefix) {
  bool isThere = name.starts_with(prefix);
  if (isThere)
    name.remove_prefix(prefix.size());
  return isThere;
}

/// ld and st: an order, a space, a vector, and a type.
static bool decodeTransfer(std::string_view name, Instruction &code) {
  bool isLoad = consume(name, "ld.");
  if (!isLoad && !consume(name, "st."))
    return false;
  if (consume(name, "relaxed.gpu."))
    code.order = Order::Relaxed;
  else if (isLoad && consume(name, "acquire.gpu."))
    code.order = Order::Acquire;
  else if (!isLoad && consume(name, "release.gpu."))
    code.order = Order::Release;
  if (consume(name, "global."))
    code.space = Space::Global;
  else if (consume(name, "shared."))
    code.space = Space::Shared;
  else if (isLoad && consume(name, "param."))
    code.space = Space::Parameters;
  code.count = consume(name, "v2.") ? 2 : consume(name, "v4.") ? 4 : 1;
  constexpr std::pair<std::string_view, uint32_t> types[] = {
      {"b8", 1},  {"u8", 1},  {"b16", 2}, {"u16", 2}, {"b32", 4},
      {"u32", 4}, {"f32", 4}, {"b64", 8}, {"u64", 8}, {"f64", 8}};
  for (auto [type, bytes] : types)
    if (name == type)
      code.bytes = bytes;
  code.run = !isLoad                           ? &store
             : code.space == Space::Parameters ? &loadParameters
                                               : &load;
  return code.bytes != 0 && code.operands.size() == code.count + 1;
}

bool fovea::emulator::ptx::decodeAccess(std::string_view name,
                                        Instruction &code) {
  constexpr Known known[] = {
      {"atom.global.add.u32", &addAtomically, 3},
      {"fence.acq_rel.gpu", &fence, 0},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", &loadMatrices, 5},
      {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", &loadMatrices, 5},
      {"cp.async.cg.shared.global", &beginCopy, 3},
      {"cp.async.commit_group", &endGroup, 0},
      {"cp.async.wait_group", &waitForGroups, 1},
  };
  if (!decodeKnown(known, name, code))
    return decodeTransfer(name, code);
  code.isTurned = name.find(".trans.") != name.npos;
  code.space = Space::Global;
  return true;
}
