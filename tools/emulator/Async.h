//===- Async.h - what is on its way in a block ------------------*- C++ -*-===//
//
// Barriers of copies, the copies themselves, and products of warp groups. A
// schedule decides when a copy completes, and when a product is computed,
// between its start and the wait for it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_ASYNC_H
#define FOVEA_TOOLS_EMULATOR_ASYNC_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fovea::emulator {

/// An mbarrier of PTX: a phase ends after so many arrivals, and all bytes that
/// they expect.
struct Barrier {
  uint32_t arrivals = 0, missing = 0;
  int64_t bytes = 0;
  uint64_t phase = 0;
  /// The thread that initialised it, and whether copies may see that.
  uint32_t thread = 0;
  bool isShown = false;

  void arrive(int64_t expected);
  void come(int64_t count);
  bool hasEnded(uint32_t parity) const { return phase % 2 != parity; }

private:
  void endPhase();
};

struct Copy {
  const char *from;
  char *to;
  size_t bytes;
  const char *barrier;
  /// The block of the cluster that receives it, and has the barrier.
  uint32_t rank = 0;

  bool overlaps(const char *other, size_t size) const {
    return to < other + size && other < to + bytes;
  }
};

/// Copies of 16 bytes that a thread has started, in groups.
class CopiesOfThread {
public:
  struct Piece {
    const char *from;
    char *to;
  };
  void begin(const Piece &piece) { pieces.push_back({piece, group}); }
  void end() { ++group; }
  /// The copies that have completed by then, of all groups except the last
  /// ones.
  std::vector<Piece> wait(uint64_t allBut);
  bool areOnTheirWay() const { return !pieces.empty(); }

private:
  std::vector<std::pair<Piece, uint64_t>> pieces;
  uint64_t group = 0;
};

/// One side of a product in the memory of a block: rows of 128 bytes, swizzled.
/// The rows are the side's rows, and their elements are terms. Or, transposed,
/// the rows are terms with 64 columns each, and the next columns are `further`
/// on.
struct GroupSide {
  const char *first = nullptr;
  bool isTurned = false;
  size_t further = 0;

  float element(uint32_t row, uint32_t term) const;
  /// The bytes of so many rows (of columns, if turned), part by part.
  std::vector<std::pair<const char *, size_t>> parts(size_t rows) const;
};

/// Four words of a left side in registers, as for mma.sync.
using GroupWords = std::array<uint32_t, 4>;

/// The pending products of a thread: those of its group, 64 rows by some
/// columns. The thread has two of each four of eight columns.
class GroupProduct {
public:
  using Failure = std::string; // empty: none

  void begin() { hasBegun = true; }
  /// Returns markers instead of sums. `isEager`: computes it now.
  struct Piece {
    float left[2][16]; // two rows of this thread
    GroupSide leftSide, right;
  };
  Failure multiply(const Piece &piece, uint32_t thread, const float *sums,
                   size_t count, bool isEager, float *result);
  void commit() { isCommitted = true; }
  Failure finish(const float *sums, size_t count, float *result);
  bool isOnItsWay() const { return !sums.empty(); }
  /// Returns whether it reads any of these bytes.
  bool reads(const char *from, size_t bytes) const;

private:
  void compute(Piece &piece);

  bool hasBegun = false, isCommitted = false;
  uint32_t thread = 0; // of the group
  std::vector<float> sums;
  std::vector<Piece> pieces; // that nobody has waited for
  size_t numComputed = 0;
};

/// The pending operations of a block's threads.
struct Async {
  std::map<const char *, Barrier> barriers;
  std::vector<Copy> copies;
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_ASYNC_H
