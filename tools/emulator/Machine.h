//===- Machine.h - the device that the emulator shows -----------*- C++ -*-===//

#ifndef FOVEA_TOOLS_EMULATOR_MACHINE_H
#define FOVEA_TOOLS_EMULATOR_MACHINE_H

#include "tools/emulator/Memory.h"

#include <random>

namespace fovea::emulator {

/// The injected fault: tests check that it is detected. Faults of one kernel
/// are edits of its text.
enum class Fault { None, Barriers, Blocks, Memory, Updates, Bytes, Sides };

/// The order in which warps and blocks take turns; a kernel must give the same
/// result under each.
enum class Schedule { Ascending, Descending, Shuffled };

struct Grid {
  uint32_t blocks = 1, threads = 1, sharedBytes = 0;
  /// The cluster size.
  uint32_t cluster = 1;
};

struct Machine {
  /// Numbers that shuffle the schedule of a launch.
  void beginDraws() { random.seed(seed); }
  uint32_t draw() { return static_cast<uint32_t>(random()); }

  Memory memory;
  Schedule schedule = Schedule::Ascending;
  uint32_t seed = 0;
  Fault fault = Fault::None;
  /// Whether accesses that nothing orders are errors.
  bool isWatched = true;

private:
  std::mt19937 random;
};

/// The one of this process.
Machine &machine();

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_MACHINE_H
