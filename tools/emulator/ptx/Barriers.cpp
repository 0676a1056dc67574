//===- Barriers.cpp - instructions by which threads meet ------------------===//

#include "tools/emulator/ptx/Warp.h"

#include <fmt/format.h>

using namespace fovea::emulator;
using namespace fovea::emulator::ptx;

/// Everyone knows what everyone did.
static void finish(BlockBarrier &barrier) {
  Clocks all;
  for (Warp *warp : barrier.warps)
    for (uint32_t half = 0; half < 2; ++half)
      join(all, warp->agent(half).seen);
  for (Warp *warp : barrier.warps) {
    warp->join(all);
    warp->synchronise(everyLane);
  }
  barrier.warps.clear();
  barrier.arrived = 0;
  ++barrier.generation;
}

static Step waitForBlock(Warp &warp, const Instruction &code, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  const Register &which = warp.source(code.operands[0]);
  uint64_t expected = warp.wave.grid.threads;
  if (code.operands.size() == 2)
    expected = warp.source(code.operands[1]).lane[0];
  if (expected == 0 || expected % lanes != 0)
    return warp.fail(code, 0, "waits for a part of a warp");
  BlockBarrier &barrier = warp.block.barriers[which.lane[0]];
  if (!warp.hasArrived) {
    if (machine().fault == Fault::Barriers)
      return Step::Next;
    warp.hasArrived = true;
    warp.generation = barrier.generation;
    ++warp.wave.effects;
    barrier.warps.push_back(&warp);
    barrier.arrived += lanes;
    if (barrier.arrived > expected)
      return warp.fail(code, 0, "comes to a barrier of fewer threads");
    if (barrier.arrived == expected)
      finish(barrier);
  }
  if (barrier.generation == warp.generation)
    return Step::Wait;
  warp.hasArrived = false;
  return Step::Next;
}

/// The lanes that an instruction names have to come together. Returns whether
/// it goes on.
static bool comesTogether(Warp &warp, const Instruction &code, uint32_t mask,
                          Operand members, Step &step) {
  const Register &named = warp.source(members);
  step = Step::Next;
  return allLanes(mask, [&](uint32_t lane) {
    auto own = static_cast<uint32_t>(named.lane[lane]);
    if (!(named.known >> lane & 1) || !(own >> lane & 1) ||
        (own & ~warp.live) != 0) {
      step = warp.fail(code, lane, "waits for lanes that are not there");
      return false;
    }
    if ((own & ~mask) != 0)
      step = Step::Wait;
    return step == Step::Next;
  });
}

static Step waitForLanes(Warp &warp, const Instruction &code, uint32_t mask) {
  Step step;
  if (!comesTogether(warp, code, mask, code.operands[0], step))
    return step;
  const Register &named = warp.source(code.operands[0]);
  forLanes(mask, [&](uint32_t lane) {
    auto own = static_cast<uint32_t>(named.lane[lane]);
    if ((own & ((uint32_t(1) << lane) - 1)) == 0)
      warp.synchronise(own);
  });
  return Step::Next;
}

template <bool isDown>
static Step shuffle(Warp &warp, const Instruction &code, uint32_t mask) {
  Step step;
  if (!comesTogether(warp, code, mask, code.operands[4], step))
    return step;
  const Register from = warp.source(code.operands[1]),
                 by = warp.source(code.operands[2]),
                 clamp = warp.source(code.operands[3]),
                 named = warp.source(code.operands[4]);
  forLanes(mask, [&](uint32_t lane) {
    uint32_t segment = clamp.lane[lane] >> 8 & 31, end = clamp.lane[lane] & 31;
    uint32_t first = lane & segment, last = first | (end & ~segment);
    auto offset = static_cast<uint32_t>(by.lane[lane]) & 31;
    uint32_t other = isDown ? lane + offset : first | (offset & ~segment);
    if (other > last)
      other = lane;
    warp.set(code.operands[0], lane, from.lane[other],
             (from.known & by.known >> lane << other &
              clamp.known >> lane << other & named.lane[lane]) >>
                     other &
                 1);
  });
  return Step::Next;
}

bool fovea::emulator::ptx::decodeBarrier(std::string_view name,
                                         Instruction &code) {
  constexpr Known known[] = {
      {"bar.sync", &waitForBlock, 1},
      {"bar.sync", &waitForBlock, 2},
      {"bar.warp.sync", &waitForLanes, 1},
      {"shfl.sync.down.b32", &shuffle<true>, 5},
      {"shfl.sync.idx.b32", &shuffle<false>, 5},
  };
  return decodeKnown(known, name, code);
}
