//===- Async.h - what is on its way in a block ------------------*- C++ -*-===//
//
// Barriers that copies come to, the copies themselves, and products of groups
// of four warps. When a copy comes, and when a product is computed, between its
// begin and the wait for it, a schedule says.
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

/// As PTX calls it, an mbarrier: a phase ends when so many have arrived, and
/// all bytes that they expect.
struct Barrier {
  uint32_t arrivals = 0, missing = 0;
  int64_t bytes = 0;
  uint64_t phase = 0;
  /// Who began it, and whether copies may see that.
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
  /// The block of the cluster that gets it, and has the barrier.
  uint32_t rank = 0;

  bool overlaps(const char *other, size_t size) const {
    return to < other + size && other < to + bytes;
  }
};

/// Copies of 16 bytes that a thread has begun, in groups.
class CopiesOfThread {
public:
  struct Piece {
    const char *from;
    char *to;
  };
  void begin(const Piece &piece) { pieces.push_back({piece, group}); }
  void end() { ++group; }
  /// Those that have come by then, of all groups but the last ones.
  std::vector<Piece> wait(uint64_t allBut);
  bool areOnTheirWay() const { return !pieces.empty(); }

private:
  std::vector<std::pair<Piece, uint64_t>> pieces;
  uint64_t group = 0;
};

/// A side of a product in the memory of a block: rows of 128 bytes, swizzled.
/// Rows are those of the side, and what lies in them its terms; or, turned,
/// rows are terms, and what lies in them 64 columns, the next of which are
/// `further` on.
struct GroupSide {
  const char *first = nullptr;
  bool isTurned = false;
  size_t further = 0;

  float element(uint32_t row, uint32_t term) const;
  /// The bytes of so many rows (of columns, turned), part by part.
  std::vector<std::pair<const char *, size_t>> parts(size_t rows) const;
};

/// Four words of a left side that is in registers, as those of mma.sync.
using GroupWords = std::array<uint32_t, 4>;

/// The products of a thread that it has not waited for: of its group, 64 rows
/// by some columns, of which it has two of each four columns of eight.
class GroupProduct {
public:
  using Failure = std::string; // empty: none

  void begin() { hasBegun = true; }
  /// Gives marks instead of sums. `isEager`: it is computed now.
  struct Piece {
    float left[2][16]; // two rows of this thread
    GroupSide leftSide, right;
  };
  Failure multiply(const Piece &piece, uint32_t thread, const float *sums,
                   size_t count, bool isEager, float *result);
  void commit() { isCommitted = true; }
  Failure finish(const float *sums, size_t count, float *result);
  bool isOnItsWay() const { return !sums.empty(); }
  /// Whether it reads any of these bytes.
  bool reads(const char *from, size_t bytes) const;

private:
  void compute(Piece &piece);

  bool hasBegun = false, isCommitted = false;
  uint32_t thread = 0; // of the group
  std::vector<float> sums;
  std::vector<Piece> pieces; // that nobody has waited for
  size_t numComputed = 0;
};

/// What the threads of a block have on its way.
struct Async {
  std::map<const char *, Barrier> barriers;
  std::vector<Copy> copies;
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_ASYNC_H
