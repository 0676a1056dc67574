//===- Races.h - accesses that nothing orders -------------------*- C++ -*-===//
//
// Agents read and write memory: half a warp, with distinct lanes, and the
// pending operations of a warp (copies, and products that read). Each has a
// clock, and knows the time of every other clock up to which all accesses are
// complete. By that knowledge, an access must come after the last write, and a
// write after all reads: under any schedule of threads.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_PTX_RACES_H
#define FOVEA_TOOLS_EMULATOR_PTX_RACES_H

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace fovea::emulator::ptx {

/// A time for each agent of the blocks that run together.
using Clocks = std::vector<uint32_t>;
void join(Clocks &clocks, const Clocks &more);

struct Agent {
  uint32_t number = 0;
  Clocks seen; // its own clock among them
  /// Up to here each of its lanes knows what the others did.
  uint32_t together = 0;
  /// What a fence has released, and what relaxed reads have seen.
  Clocks fenced, read;
  /// Up to here copies and products see what it wrote.
  uint32_t shown = 0;

  uint32_t clock() const { return seen[number]; }
  void tick() { ++seen[number]; }
};

/// Who accesses memory. `lane`: of a half warp; none for what is on its way.
struct Actor {
  static constexpr uint16_t none = 0xFFFF;
  const Agent *agent = nullptr;
  uint32_t number = 0, clock = 0;
  uint16_t lane = none;
};

struct Epoch {
  uint32_t wave = 0, clock = 0;
  uint16_t agent = 0, lane = 0;
};

/// The last accesses of a byte.
struct Shadow {
  Epoch writer, reader;
  /// A set of readers, and the last wave of other blocks that read it.
  uint32_t readers = 0, others = 0;
};

class Races {
public:
  /// Other blocks do not run at the same time as these.
  void beginLaunch() { launch = wave + 1; }
  void beginWave(uint32_t numAgents);

  /// Returns what is wrong with an access to a byte; empty: nothing.
  std::string access(Shadow &shadow, bool writes, const Actor &now,
                     bool isOfBlock);
  /// Whether somebody wrote it since the block began.
  bool isWritten(const Shadow &shadow) const {
    return shadow.writer.wave == wave;
  }
  /// Whether copies and products see what a thread wrote.
  bool isShown(const Shadow &shadow, const std::vector<Agent> &agents) const;
  Shadow &ofGlobal(uint64_t address);

private:
  bool isBefore(const Epoch &epoch, const Actor &now) const;
  bool areBefore(const Shadow &shadow, const Actor &now) const;
  void read(Shadow &shadow, const Actor &now);
  uint32_t newSet();
  std::string describe(const Epoch &other, const char *verb) const;

  uint32_t wave = 0, launch = 1, numAgents = 0;
  static constexpr uint32_t bytesOfChunk = 1 << 14;
  std::unordered_map<uint64_t, std::unique_ptr<Shadow[]>> chunks;
  uint64_t lastKey = ~uint64_t(0);
  Shadow *lastChunk = nullptr;
  std::vector<Clocks> sets;
  std::vector<uint32_t> freeSets;
};

} // namespace fovea::emulator::ptx

#endif // FOVEA_TOOLS_EMULATOR_PTX_RACES_H
