//===- Async.h - what is on its way in a block ------------------*- C++ -*-===//
//
// Barriers that copies come to, the copies themselves, and products of groups
// of four warps. When a copy comes, and when a product is computed, between its
// begin and the wait for it, a schedule says.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_ASYNC_H
#define FOVEA_TOOLS_EMULATOR_ASYNC_H

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

/// The products of a thread that it has not waited for: of its group, 64 rows
/// by some columns, of which it has two of each four columns of eight.
class GroupProduct {
public:
  using Failure = std::string; // empty: none

  void begin() { hasBegun = true; }
  /// Gives marks instead of sums. `isEager`: it is computed now.
  Failure multiply(const char *left, const char *right, uint32_t lane,
                   const float *sums, size_t count, bool isEager,
                   float *result);
  void commit() { isCommitted = true; }
  Failure finish(const float *sums, size_t count, float *result);
  bool isOnItsWay() const { return !sums.empty(); }
  /// Whether it reads any of these bytes.
  bool reads(const char *from, size_t bytes) const;

private:
  struct Piece {
    const char *left, *right;
  };
  void compute(const Piece &piece);

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
