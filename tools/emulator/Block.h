//===- Block.h - the threads of a grid, one after the other -----*- C++ -*-===//
//
// A thread is a fiber of this process: it runs until it must wait for others.
// A schedule selects the next one; a kernel must give the same result under
// each.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_BLOCK_H
#define FOVEA_TOOLS_EMULATOR_BLOCK_H

#include "tools/emulator/Async.h"
#include "tools/emulator/Memory.h"

#include <boost/context/detail/fcontext.hpp>
#include <csetjmp>
#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace fovea::emulator {

/// The injected fault: tests check that it is detected.
enum class Fault {
  None,
  Barriers,
  Blocks,
  Memory,
  Updates,
  Copies,
  Bytes,
  Products,
  Proxies,
  Grids,
  Fences,
  Peers,
  Begins,
  Ends
};

enum class Schedule { Ascending, Descending, Shuffled };

struct Grid {
  uint32_t blocks = 1, threads = 1, sharedBytes = 0;
  /// The cluster size.
  uint32_t cluster = 1;
};

/// The data that a thread contributes to a warp-wide instruction: words, or an
/// address.
struct Fragment {
  uint32_t words[6] = {};
  const char *address = nullptr;
};

/// A thread's coordinates; kernels find them by name.
struct Registers {
  uint32_t tid = 0, ctaid = 0, ntid = 0, nctaid = 0;
  /// The block's rank in its cluster, and the cluster size.
  uint32_t ctarank = 0, nctarank = 1;
};

class Machine {
public:
  /// Runs `kernel` in every thread of a grid. `waits`: whether it may wait for
  /// others. Returns an error; empty: none.
  std::string run(const Grid &grid, bool waits,
                  const std::function<void()> &kernel);
  /// The same for blocks that run concurrently: all, or those of a
  /// cluster.
  std::string runTogether(const Grid &grid,
                          const std::function<void()> &kernel);
  std::string runClusters(const Grid &grid,
                          const std::function<void()> &kernel);

  // The functions that kernels call.
  void waitForBlock();
  /// Synchronises the first `count` threads.
  void waitForThreads(uint32_t count);
  void waitForGroup(uint32_t mask);
  uint32_t shuffle(uint32_t mask, uint32_t value, uint32_t source);
  void touch(const char *address, size_t bytes, bool writes);
  /// A collective call of all 32 threads of a warp, each with its data; `of`
  /// maps a thread's number to its contribution. It orders no memory accesses.
  class Exchange {
  public:
    const Fragment &of(uint32_t lane) const;

  private:
    friend class Machine;
    const Machine *machine;
    uint32_t first, turn;
  };
  Exchange exchange(const Fragment &own);
  uint32_t lane() const { return current % 32; }

  // Barriers of copies, copies, and products of groups of warps.
  void beginBarrier(const char *barrier, uint32_t arrivals);
  void showBarriers();
  void expect(const char *barrier, int64_t bytes);
  void arrive(const char *barrier, uint32_t rank);
  void arriveAtCluster();
  void waitForCluster();
  void waitForPhase(const char *barrier, uint32_t parity);
  /// `blocks`: a bit for each block of the cluster that gets it.
  void copy(Copy copy, uint32_t blocks);
  void beginCopy(const CopiesOfThread::Piece &piece);
  void endCopies() { fibers[current].copies.end(); }
  void waitForCopies(uint64_t allBut);
  GroupProduct &groupProduct() { return fibers[current].product; }
  /// The left side in words, or as described. `turned`: whether rows are terms,
  /// for the right side (bit 0) and the left one (bit 1).
  void multiplyGroup(float *result, const float *sums, uint32_t count,
                     std::optional<GroupWords> words, uint64_t left,
                     uint64_t right, uint32_t turned);
  void finishGroup(float *result, const float *sums, uint32_t count);

  // The memory words on which blocks wait for each other.
  uint32_t readNumber(const uint32_t *address, bool acquires);
  void writeNumber(uint32_t *address, uint32_t value, bool releases);
  uint32_t addNumber(uint32_t *address, uint32_t value);
  void fence();

  /// Reports an error in this thread, which ends here.
  void fail(const std::string &what);

  /// Numbers that shuffle the schedule of a launch.
  void beginDraws() { random.seed(seed); }
  uint32_t draw() { return static_cast<uint32_t>(random()); }

  Memory memory;
  Registers registers;
  Schedule schedule = Schedule::Ascending;
  uint32_t seed = 0;
  Fault fault = Fault::None;
  bool isWatched = true;
  /// A block's memory with the size from the launch.
  char *sharedMemory = nullptr;

private:
  /// AtNumber: it polls a word that another block may write first; Asks: now it
  /// reads it.
  enum class State {
    Ready,
    AtBlock,
    AtThreads,
    AtGroup,
    AtWarp,
    AtPhase,
    AtNumber,
    Asks,
    AtCluster,
    Done
  };
  using Context = boost::context::detail::fcontext_t;
  struct Fiber {
    /// The saved context. Not ucontext, which makes a system call for the
    /// signal mask at each switch.
    Context context = nullptr;
    std::vector<char> stack;
    State state = State::Done;
    uint32_t mask = 0, count = 0;
    Access access;
    /// Its contributions to others; double-buffered, so that a fast one
    /// overwrites nothing.
    uint32_t given[2] = {0, 0};
    Fragment fragments[2];
    uint32_t numExchanges = 0;
    /// The number of its cluster synchronisations.
    uint32_t clusterWaits = 0;
    /// For the barrier that it waits on.
    const char *barrier = nullptr;
    uint32_t parity = 0;
    GroupProduct product;
    CopiesOfThread copies;
  };

  /// A block that runs concurrently with others.
  struct Resident {
    std::vector<Fiber> fibers;
    std::vector<char> memory;
    Async async;
    bool isDone = false;
  };

  static void enter(boost::context::detail::transfer_t from);
  void beginGrid(const Grid &grid, const std::function<void()> &kernel);
  void enterBlock(uint32_t number);
  void runBlock(uint32_t block, bool waits);
  void runBlocks(uint32_t first, uint32_t count);
  void exchangeBlock(Resident &resident);
  void beginFibers();
  bool runFibers();
  bool areDone() const;
  void stopAt(State state);
  bool release(uint32_t number);
  bool releaseAll(State state, uint32_t first, uint32_t count);
  std::vector<uint32_t> order(uint32_t count);
  void blame(const std::string &what);
  /// For a block of the cluster, possibly this one.
  Async &asyncOf(uint32_t rank);
  std::vector<Fiber> &fibersOf(uint32_t rank);
  char *placeIn(uint32_t rank, char *address);
  Barrier &barrierAt(const char *address, uint32_t rank);
  Barrier &barrierAt(const char *address) {
    return barrierAt(address, registers.ctarank);
  }
  /// Returns whether a pending copy targets these bytes of a block.
  bool isCopiedTo(uint32_t rank, const char *address, size_t bytes);
  void checkEnd();
  GroupSide sideOf(uint64_t description, size_t rows, bool isTurned);
  bool isEager();
  void finishCopy(size_t number);
  bool finishSomeCopy();
  uint32_t warpFirst() const { return current / 32 * 32; }

  Grid grid;
  const std::function<void()> *kernel = nullptr;
  std::vector<Fiber> fibers;
  Context home = nullptr; // where `runFibers` goes on
  uint32_t current = 0, block = 0;
  std::vector<Resident> residents;
  uint64_t atomicWrites = 0;
  bool isFiber = false;
  std::jmp_buf end; // of a thread without a fiber that has failed
  Access alone;     // of a kernel whose threads do not wait
  std::string failure;
  std::mt19937 random;
  Async async; // of the block
  /// How many threads of the cluster have arrived, and how often all have.
  uint32_t clusterArrivals = 0, clusterTurns = 0;
};

/// The one of this process.
Machine &machine();

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_BLOCK_H
