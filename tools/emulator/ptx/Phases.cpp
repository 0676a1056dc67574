//===- Phases.cpp - barriers of copies, copies, and clusters --------------===//

#include "tools/emulator/ptx/Warp.h"

#include <cstring>
#include <fmt/format.h>

using namespace fovea::emulator;
using namespace fovea::emulator::ptx;

static void endPhase(PhaseBarrier &barrier) {
  if (barrier.missing != 0 || barrier.bytes != 0)
    return;
  join(barrier.done, barrier.arrived);
  ++barrier.phase;
  barrier.missing = barrier.arrivals;
}

void PhaseBarrier::arrive(const Clocks &clocks, int64_t more) {
  join(arrived, clocks);
  bytes += more;
  --missing;
  endPhase(*this);
}

/// The barrier at an address, which has to have begun.
static PhaseBarrier *barrierAt(Warp &warp, const Instruction &code,
                               uint32_t lane, Operand operand) {
  uint64_t address;
  if (!warp.address(code, lane, operand, address))
    return nullptr;
  bool isOther = address >> rankShift != 0;
  Block *block = warp.blockOf(address, sizeof(uint64_t));
  if (block && isOther && block->isDone()) {
    warp.fail(code, lane, "has to do with a barrier of a block that has ended");
    return nullptr;
  }
  auto found = block ? block->phases.find(address)
                     : std::map<uint64_t, PhaseBarrier>::iterator();
  if (!block || found == block->phases.end()) {
    warp.fail(code, lane, "has to do with a barrier that has not begun");
    return nullptr;
  }
  if (isOther && !found->second.isShown) {
    warp.fail(code, lane,
              "has to do with a barrier that the cluster does not "
              "see yet");
    return nullptr;
  }
  return &found->second;
}

static Step beginBarrier(Warp &warp, const Instruction &code, uint32_t mask) {
  ++warp.wave.effects;
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    uint64_t address;
    if (!warp.address(code, lane, code.operands[0], address))
      return false;
    Warp::Place place =
        warp.place(code, lane, address, 8, true, Space::Shared, false);
    if (!place.bytes)
      return false;
    const Register &count = warp.source(code.operands[1]);
    Block *block = warp.blockOf(address, sizeof(uint64_t));
    PhaseBarrier barrier;
    barrier.arrivals = barrier.missing =
        static_cast<uint32_t>(count.lane[lane]);
    barrier.owner = &warp;
    if (!(count.known >> lane & 1) || barrier.arrivals == 0) {
      warp.fail(code, lane, "begins a barrier without arrivals");
      return false;
    }
    block->phases[address] = barrier;
    return true;
  });
  return isGood ? Step::Next : Step::Fail;
}

static Step showBarriers(Warp &warp, const Instruction &, uint32_t) {
  for (auto &[address, barrier] : warp.block.phases)
    if (barrier.owner == &warp)
      barrier.isShown = true;
  return Step::Next;
}

/// What threads wrote is seen by copies and products from here on.
static Step showWrites(Warp &warp, const Instruction &, uint32_t mask) {
  for (uint32_t half = 0; half < 2; ++half)
    if (mask >> 16 * half & 0xFFFF) {
      warp.agent(half).shown = warp.agent(half).clock();
      warp.agent(half).tick();
    }
  return Step::Next;
}

/// mbarrier.arrive _, [barrier], with the bytes that it expects, or without.
static Step arrive(Warp &warp, const Instruction &code, uint32_t mask) {
  ++warp.wave.effects;
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    PhaseBarrier *barrier = barrierAt(warp, code, lane, code.operands[1]);
    if (!barrier)
      return false;
    int64_t bytes = 0;
    if (code.operands.size() == 3)
      bytes = static_cast<int64_t>(warp.source(code.operands[2]).lane[lane]);
    if (machine().fault == Fault::Bytes)
      bytes = 0;
    Agent &agent = warp.agentOf(lane);
    barrier->arrive(agent.seen, bytes);
    agent.tick();
    return true;
  });
  return isGood ? Step::Next : Step::Fail;
}

/// mbarrier.try_wait: whether the phase with a parity has ended.
static Step tryWait(Warp &warp, const Instruction &code, uint32_t mask) {
  bool hasEnded = true;
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    PhaseBarrier *barrier = barrierAt(warp, code, lane, code.operands[1]);
    const Register &parity = warp.source(code.operands[2]);
    if (!barrier)
      return false;
    if (!(parity.known >> lane & 1) || parity.lane[lane] > 1) {
      warp.fail(code, lane, "waits for a phase that is neither 0 nor 1");
      return false;
    }
    bool isOver = barrier->phase % 2 != parity.lane[lane];
    if (isOver)
      join(warp.agentOf(lane).seen, barrier->done);
    hasEnded &= isOver;
    warp.set(code.operands[0], lane, isOver);
    return true;
  });
  return !isGood ? Step::Fail : hasEnded ? Step::Next : Step::Yield;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Block *Wave::peer(const Block &block, uint64_t rank) {
  uint64_t own = block.number - blocks.front()->number;
  return rank < grid.cluster ? blocks[own - block.rank + rank].get() : nullptr;
}

void Wave::finish(BulkCopy copy) {
  ++effects;
  if (copy.to->isDone())
    return fail(fmt::format("a copy comes to block {}, which has ended",
                            copy.to->number));
  std::memcpy(copy.to->memory.data() + copy.offset,
              machine().memory.contentOf(copy.from), copy.bytes);
  std::memset(copy.to->known.data() + copy.offset, 1, copy.bytes);
  PhaseBarrier &barrier = copy.to->phases.at(copy.barrier);
  join(barrier.arrived, copy.clocks);
  barrier.bytes -= static_cast<int64_t>(copy.bytes);
  endPhase(barrier);
}

bool Wave::finishSome() {
  if (copies.empty())
    return false;
  size_t which = machine().schedule == Schedule::Shuffled
                     ? machine().draw() % copies.size()
                     : copies.size() - 1;
  BulkCopy copy = std::move(copies[which]);
  copies.erase(copies.begin() + static_cast<ptrdiff_t>(which));
  finish(std::move(copy));
  return true;
}

/// All blocks have ended: nothing may be on its way.
void Wave::checkEnd() {
  if (!copies.empty())
    return fail("the blocks end while copies are on their way");
  for (const auto &block : blocks) {
    for (const auto &[address, barrier] : block->phases)
      if (barrier.bytes != 0)
        return fail(fmt::format("block {} ends while a barrier has other bytes "
                                "than it expects",
                                block->number));
    for (const auto &warp : block->warps) {
      if (!warp->copies.empty() || !warp->products.empty())
        return fail(fmt::format("warp {} of block {} ends while copies or "
                                "products are on their way",
                                warp->number, block->number));
      uint64_t first = block->warps[warp->number / 4 * 4]->numProducts;
      if (warp->numProducts != first)
        return fail(fmt::format("the warps of a group of block {} do not "
                                "multiply equally often",
                                block->number));
    }
  }
}

/// Of a copy: that it may read, and that it may write in a block.
static bool isFree(Warp &warp, const Instruction &code, uint32_t lane,
                   const BulkCopy &copy) {
  if (!machine().isWatched)
    return true;
  Agent &agent = warp.onItsWay();
  Actor now{&agent, agent.number, agent.clock(), Actor::none};
  for (uint64_t part = 0; part < copy.bytes; ++part) {
    std::string wrong =
        races().access(races().ofGlobal(copy.from + part), false, now, false);
    if (wrong.empty())
      wrong =
          races().access(copy.to->shadows[copy.offset + part], true, now, true);
    if (wrong.empty())
      continue;
    warp.fail(code, lane, "copies a number " + wrong);
    return false;
  }
  return true;
}

static bool beginCopy(Warp &warp, const Instruction &code, uint32_t lane,
                      uint64_t blocks) {
  uint64_t to, from, barrier;
  if (!warp.address(code, lane, code.operands[0], to) ||
      !warp.address(code, lane, code.operands[1], from) ||
      !warp.address(code, lane, code.operands[3], barrier))
    return false;
  uint64_t bytes = warp.source(code.operands[2]).lane[lane];
  auto refuse = [&](const char *what) {
    warp.fail(code, lane, what);
    return false;
  };
  if ((to | from | bytes) % 16 != 0)
    return refuse("copies what 16 bytes do not divide");
  if (to >> rankShift != 0 || barrier >> rankShift != 0)
    return refuse("copies to an address in another block");
  if (!machine().memory.holds(reinterpret_cast<char *>(from), bytes))
    return refuse("copies from where no memory is");
  if (!warp.blockOf(to, bytes) || !warp.blockOf(barrier, 8))
    return refuse("copies to where no memory of the block is");
  Agent &agent = warp.onItsWay();
  join(agent.seen, warp.agentOf(lane).seen);
  bool isEager = warp.wave.isEager();
  for (uint64_t rank = 0; blocks >> rank != 0; ++rank) {
    if (!(blocks >> rank & 1))
      continue;
    Block *target = warp.wave.peer(warp.block, rank);
    if (!target)
      return refuse("copies to a block that its cluster does not have");
    auto found = target->phases.find(barrier);
    if (found == target->phases.end() || !found->second.isShown)
      return refuse("copies to a barrier that copies do not see yet");
    BulkCopy copy{target, from, to, bytes, barrier, agent.seen};
    if (!isFree(warp, code, lane, copy))
      return false;
    // Until it completes, its target holds no numbers.
    std::memset(target->known.data() + to, 0, bytes);
    if (isEager)
      warp.wave.finish(std::move(copy));
    else
      warp.wave.copies.push_back(std::move(copy));
  }
  agent.tick();
  return warp.wave.failure.empty();
}

static Step copy(Warp &warp, const Instruction &code, uint32_t mask) {
  ++warp.wave.effects;
  bool isGood = allLanes(mask, [&](uint32_t lane) {
    uint64_t blocks = uint64_t(1) << warp.block.rank;
    if (code.operands.size() == 5)
      blocks = warp.source(code.operands[4]).lane[lane];
    return beginCopy(warp, code, lane, blocks);
  });
  return isGood ? Step::Next : Step::Fail;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// The warps of the hardware arrive, not their lanes.
static Step arriveAtCluster(Warp &warp, const Instruction &code,
                            uint32_t mask) {
  if (!warp.isWhole(mask))
    return warp.fail(code, std::countr_zero(mask),
                     "comes to the barrier of its cluster without others of "
                     "its warp");
  ++warp.wave.effects;
  ClusterBarrier &barrier = warp.wave.peer(warp.block, 0)->cluster;
  warp.clusterPhase = barrier.phase;
  for (uint32_t half = 0; half < 2; ++half) {
    join(barrier.arriving, warp.agent(half).seen);
    warp.agent(half).tick();
  }
  barrier.arrived += static_cast<uint32_t>(std::popcount(mask));
  if (barrier.arrived == warp.wave.grid.threads * warp.wave.grid.cluster) {
    join(barrier.done, barrier.arriving);
    barrier.arrived = 0;
    ++barrier.phase;
  }
  return Step::Next;
}

static Step waitForCluster(Warp &warp, const Instruction &, uint32_t mask) {
  const ClusterBarrier &barrier = warp.wave.peer(warp.block, 0)->cluster;
  if (!warp.isWhole(mask) || barrier.phase == warp.clusterPhase)
    return Step::Wait;
  warp.join(barrier.done);
  warp.synchronise(everyLane);
  return Step::Next;
}

bool fovea::emulator::ptx::decodePhase(std::string_view name,
                                       Instruction &code) {
  constexpr Known known[] = {
      {"mbarrier.init.shared.b64", &beginBarrier, 2},
      {"fence.mbarrier_init.release.cluster", &showBarriers, 0},
      {"fence.proxy.async.shared::cta", &showWrites, 0},
      {"mbarrier.arrive.shared.b64", &arrive, 2},
      {"mbarrier.arrive.shared::cluster.b64", &arrive, 2},
      {"mbarrier.arrive.expect_tx.shared.b64", &arrive, 3},
      {"mbarrier.try_wait.parity.shared::cta.b64", &tryWait, 3},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
       &copy, 4},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
       "multicast::cluster",
       &copy, 5},
      {"barrier.cluster.arrive", &arriveAtCluster, 0},
      {"barrier.cluster.wait", &waitForCluster, 0},
  };
  return decodeKnown(known, name, code);
}
