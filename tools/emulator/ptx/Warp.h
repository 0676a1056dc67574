//===- Warp.h - the warps of blocks that run together -----------*- C++ -*-===//
//
// A warp runs the lanes at its lowest instruction first, until they meet
// others. Blocks that are there at the same time are a wave: their warps take
// turns as the schedule says.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_PTX_WARP_H
#define FOVEA_TOOLS_EMULATOR_PTX_WARP_H

#include "tools/emulator/Machine.h"
#include "tools/emulator/ptx/Code.h"
#include "tools/emulator/ptx/Races.h"

#include <algorithm>
#include <bit>
#include <deque>

namespace fovea::emulator::ptx {

class Wave;
struct Block;

/// Copies of a lane, 16 bytes each.
struct LaneCopy {
  uint64_t from = 0, to = 0;
  uint32_t lane = 0, group = 0;
};

/// Sums that a product of a group of warps is computing, and the registers that
/// it reads.
struct PendingSums {
  std::vector<Operand> sums;
  uint32_t group = 0;
  std::vector<std::pair<Operand, Register>> sides;
};

/// The lanes of a warp that are at the same instruction.
struct Group {
  uint32_t at = 0, mask = 0;
  bool rests = false;
};

class Warp {
public:
  Warp(Wave &wave, Block &block, uint32_t number);
  /// Runs until its lanes wait. Returns whether any did something.
  bool run(uint64_t budget);
  bool isDone() const { return groups.empty(); }
  std::string where() const;

  const Register &source(Operand operand) const;
  Register &target(Operand operand) { return file[operand.number]; }
  /// Sets a lane's value, or that it has none.
  void set(Operand operand, uint32_t lane, uint64_t value, bool isKnown = true);

  Step fail(const Instruction &code, uint32_t lane, const std::string &what);
  /// Whether all lanes of the warp have come.
  bool isWhole(uint32_t mask) const { return mask == live; }

  /// The address of a lane; fails where it is not known.
  bool address(const Instruction &code, uint32_t lane, Operand operand,
               uint64_t &value);
  /// The memory of an access, which is checked. Null: it has failed.
  struct Place {
    char *bytes = nullptr;
    char *known = nullptr;
  };
  /// The block of a shared address, which becomes an offset; null: none.
  Block *blockOf(uint64_t &address, uint64_t bytes);
  Place place(const Instruction &code, uint32_t lane, uint64_t address,
              uint32_t bytes, bool writes, Space space, bool isSynchronising);
  /// Orders what the lanes did before what they do next.
  void synchronise(uint32_t mask);
  void join(const Clocks &clocks);
  Agent &agent(uint32_t half);
  Agent &agentOf(uint32_t lane) { return agent(lane / 16); }
  Agent &onItsWay() { return agent(2); }

  Wave &wave;
  Block &block;
  uint32_t number, live = 0;
  std::vector<LaneCopy> copies;
  uint32_t numCopyGroups = 0;
  /// At a barrier of the block.
  bool hasArrived = false;
  uint64_t generation = 0;
  /// At its cluster's barrier.
  uint64_t clusterPhase = 0;
  /// Of the file, which the warps of a block share.
  uint32_t registers = 0;
  /// Products of its group: whether a fence is ahead of the next one, and what
  /// is on its way.
  bool isFenced = false;
  std::vector<PendingSums> products;
  uint32_t numProductGroups = 0;
  uint64_t numProducts = 0;
  /// What each group of products has read, until it is awaited.
  std::deque<Clocks> committed;

private:
  bool meetsMask(const Instruction &code, uint32_t &mask);
  bool execute(size_t number, uint64_t &budget);
  void endLanes(Group &group, uint32_t mask);
  void order();

  const Entry &entry;
  std::vector<Register> file;
  std::vector<Group> groups;
};

struct BlockBarrier {
  uint32_t arrived = 0;
  uint64_t generation = 0;
  std::vector<Warp *> warps;
};

/// An mbarrier: a phase ends after so many arrivals, and all bytes that they
/// expect.
struct PhaseBarrier {
  uint32_t arrivals = 0, missing = 0;
  int64_t bytes = 0;
  uint64_t phase = 0;
  /// The warp that initialised it, and whether copies and others of the cluster
  /// see that.
  const Warp *owner = nullptr;
  bool isShown = false;
  Clocks arrived, done;

  void arrive(const Clocks &clocks, int64_t more);
};

struct ClusterBarrier {
  uint32_t arrived = 0;
  uint64_t phase = 0;
  Clocks arriving, done;
};

struct Block {
  uint32_t number = 0, rank = 0, first = 0; // of its agents
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<char> memory, known;
  std::vector<Shadow> shadows;
  std::map<uint64_t, BlockBarrier> barriers;
  std::map<uint64_t, PhaseBarrier> phases;
  ClusterBarrier cluster; // of the first block of a cluster
  uint32_t freeRegisters = 0;

  bool isDone() const {
    return std::ranges::all_of(warps,
                               [](const auto &warp) { return warp->isDone(); });
  }
};

/// A copy by one instruction to a block.
struct BulkCopy {
  Block *to = nullptr;
  uint64_t from = 0, offset = 0, bytes = 0, barrier = 0;
  Clocks clocks;
};

/// Blocks that run at the same time.
class Wave {
public:
  Wave(const Entry &entry, const Grid &grid, std::vector<char> &parameters)
      : entry(entry), grid(grid), parameters(parameters) {}
  void run(const std::vector<uint32_t> &numbers);
  /// Whether what may happen now or later happens now.
  bool isEager();
  /// The block with a rank in the cluster of another one; null: none.
  Block *peer(const Block &block, uint64_t rank);
  void finish(BulkCopy copy);
  bool finishSome();
  void checkEnd();
  void fail(const std::string &what) {
    if (failure.empty())
      failure = what;
  }

  const Entry &entry;
  const Grid &grid;
  std::vector<char> &parameters;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Agent> agents;
  /// What is known to those who read a word of global memory.
  std::unordered_map<uint64_t, Clocks> released;
  std::vector<BulkCopy> copies;
  std::string failure;
  /// Counts what others may wait for.
  uint64_t effects = 0;

private:
  std::vector<Warp *> turn();
};

Races &races();

/// Runs a kernel. Returns an error; empty: none.
std::string launch(const Entry &entry, const Grid &grid, const int64_t *list,
                   int64_t units, bool isTogether);

template <class Body> void forLanes(uint32_t mask, Body body) {
  for (; mask != 0; mask &= mask - 1)
    body(static_cast<uint32_t>(std::countr_zero(mask)));
}
/// The same, until one returns false.
template <class Body> bool allLanes(uint32_t mask, Body body) {
  for (; mask != 0; mask &= mask - 1)
    if (!body(static_cast<uint32_t>(std::countr_zero(mask))))
      return false;
  return true;
}

} // namespace fovea::emulator::ptx

#endif // FOVEA_TOOLS_EMULATOR_PTX_WARP_H
