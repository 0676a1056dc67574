//===- Ordering.h - what blocks know of each other --------------*- C++ -*-===//
//
// Concurrent blocks see each other's writes if these were released
// and acquired, by fences and atomic accesses. A clock counts events;
// a block knows for each other one up to which time it sees
// everything.
//
// A block's atomic accesses belong to one of its threads; barriers
// of the block connect it with the other threads, in both
// directions.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_ORDERING_H
#define FOVEA_TOOLS_EMULATOR_ORDERING_H

#include <cstdint>
#include <map>
#include <vector>

namespace fovea::emulator {

class Ordering {
public:
  /// A time for each block.
  using Times = std::vector<uint32_t>;

  /// So many blocks that do not know each other; 0: they do not run
  /// concurrently.
  void begin(uint32_t blocks);

  uint32_t now() const { return clock; }
  /// Returns whether `block` sees what `other` did at a time.
  bool sees(uint32_t block, uint32_t other, uint32_t time) const {
    return !blocks.empty() && time < blocks[block].seen[other];
  }
  /// The same for each block's last event at its time; 0: it has none.
  bool seesAll(uint32_t block, const Times &times) const;
  bool isOn() const { return !blocks.empty(); }
  uint32_t numBlocks() const { return static_cast<uint32_t>(blocks.size()); }

  /// All threads of the block have come to a barrier.
  void waited(uint32_t block);
  void fence(uint32_t block);
  void read(uint32_t block, const void *address, bool acquires);
  /// `joins`: what was released there before stays so.
  void write(uint32_t block, const void *address, bool releases, bool joins);

private:
  static void join(Times &times, const Times &more);

  struct Block {
    /// What its threads see, and the thread that has acquired more.
    Times seen, acquired;
    /// What was read and is acquired by a fence; what a fence has released.
    Times read, fenced;
  };
  std::vector<Block> blocks;
  std::map<const void *, Times> released;
  uint32_t clock = 1;
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_ORDERING_H
