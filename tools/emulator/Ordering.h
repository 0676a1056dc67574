//===- Ordering.h - what blocks know of each other --------------*- C++ -*-===//
//
// Blocks that run at the same time see what others have written where these
// have released it and they have acquired it: by fences and atomic accesses. A
// clock counts what has happened; a block knows of each other one up to which
// time it sees everything.
//
// Atomic accesses of a block are those of one of its threads, to which a
// barrier of the block brings what the others did, and which brings them by
// another one what it has learnt.
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
  /// Of each block, a time.
  using Times = std::vector<uint32_t>;

  /// So many blocks, of which none knows of another; 0: they do not run at the
  /// same time.
  void begin(uint32_t blocks);

  uint32_t now() const { return clock; }
  /// Whether `block` sees what `other` did at a time.
  bool sees(uint32_t block, uint32_t other, uint32_t time) const {
    return !blocks.empty() && time < blocks[block].seen[other];
  }
  /// The same of what each block did last at its time; 0: it did nothing.
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
    /// What its threads see, and the one that has acquired more.
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
