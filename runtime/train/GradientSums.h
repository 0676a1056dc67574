//===- GradientSums.h - gradients of micro-batches, added -----------------===//
//
// Adds the gradients of an update's micro-batches in a SumTree, whichever
// process computes them. Each process computes the nodes of its own numbers. It
// sends the parts in another process's chunk as soon as a node is done, while
// the next micro-batch runs. The owner adds them in tree order, so each process
// ends with the sum of its chunk.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_GRADIENTSUMS_H
#define FOVEA_RUNTIME_TRAIN_GRADIENTSUMS_H

#include "runtime/ThreadPool.h"
#include "runtime/device/SharedMemory.h"
#include "runtime/train/SumTree.h"
#include "runtime/train/Team.h"

#include <memory>
#include <new>

namespace fovea::runtime {

/// Arrays begin at a multiple of a cache line.
constexpr int64_t lineBytes = 64;

template <typename T> struct FreeArray {
  void operator()(T *memory) const { freeShared(memory); }
};
template <typename T> using OwnArray = std::unique_ptr<T[], FreeArray<T>>;

/// Zeros; has memory for at least one cache line.
template <typename T> OwnArray<T> allocateArray(int64_t count);

/// The numbers from .. to-1 of an array.
struct Range {
  int64_t from = 0, to = 0;
};

template <typename T> class GradientSums {
public:
  /// Of `total` values, which fill whole cache lines. Chunks are made of whole
  /// `grain`s, a number of values that fill cache lines.
  GradientSums(Team &team, int64_t total, int64_t grain, FoveaPool *pool);

  /// From now on, only these parts of the arrays are gradients; the others are
  /// undefined. For one process, between two updates.
  void setRanges(std::vector<Range> chosen);

  /// Begins an update of `count` micro-batches; this process computes its share
  /// of them. Reuses the memory of the last sums, `sums`; with one process, for
  /// these sums.
  void begin(int64_t count, OwnArray<T> &sums);
  /// Returns zeros for the gradients of the next micro-batch of the share,
  /// complete when `add` is called.
  T *next();
  void add();
  /// Sends everything pending, after the share or when it ends early, as it
  /// then does for all processes.
  void send();
  /// Returns the sums of this process's chunk at its position in `sums`, whose
  /// rest is undefined. Zeros without micro-batches.
  void finish(OwnArray<T> &sums);

  /// The chunks of all processes, in values and in cache lines, whose counts
  /// fit an int of MPI.
  const Parts &chunks() const { return parts; }
  Parts lines() const { return inLines(parts); }
  int64_t begin() const { return parts.places[team.rank()]; }
  int64_t end() const { return begin() + parts.counts[team.rank()]; }

private:
  using Node = SumNode<OwnArray<T>>;

  OwnArray<T> take();
  void freeNodes();
  void finishExchanges();
  void sendNext(const T *values);
  Parts inLines(Parts ofValues) const;

  Team &team;
  int64_t total;
  FoveaPool *pool;
  std::vector<Range> ranges;
  Parts parts;
  std::vector<OwnArray<T>> unused;

  // For the current update.
  int64_t count = 0, number = 0;
  OwnArray<T> leaf;
  std::vector<Node> nodes;
  /// The nodes of each process, and their maximum.
  std::vector<std::vector<SumNode<int>>> plan;
  size_t rounds = 0, sent = 0;
  std::vector<int64_t> exchanges;
  OwnArray<T> received;
  int64_t roomReceived = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_GRADIENTSUMS_H
