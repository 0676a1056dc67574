//===- GradientSums.h - gradients of micro-batches, added -----------------===//
//
// The gradients of the micro-batches of an update are added by a SumTree,
// whoever computes them. Each process makes the nodes of its own numbers; what
// they are in the chunk of another is sent there as soon as a node is done,
// while the next micro-batch is computed, and added there in the order of the
// tree. So each process ends with the sum of its chunk.
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

/// Zeros; there is memory for one cache line at least.
template <typename T> OwnArray<T> allocateArray(int64_t count);

template <typename T> class GradientSums {
public:
  /// Of `total` values, which fill whole cache lines. Chunks are made of whole
  /// `grain`s, a number of values that fill cache lines.
  GradientSums(Team &team, int64_t total, int64_t grain, FoveaPool *pool);

  /// Begins an update of `count` micro-batches, of which this process computes
  /// its share. The memory of the last sums, `sums`, is used again: where there
  /// is one process, for these sums.
  void begin(int64_t count, OwnArray<T> &sums);
  /// Zeros, for the gradients of the next micro-batch of the share, which are
  /// there when `add` is called.
  T *next();
  void add();
  /// After the share, or where it ends early, as it then does for all
  /// processes: sends what has not been sent.
  void send();
  /// The sums of this process's chunk at their place in `sums`, of which the
  /// rest is anything. Of no micro-batches they are zeros.
  void finish(OwnArray<T> &sums);

  /// The chunks of all, in values, and in cache lines: the numbers of those
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
  Parts parts;
  std::vector<OwnArray<T>> unused;

  // Of the present update.
  int64_t count = 0, number = 0;
  OwnArray<T> leaf;
  std::vector<Node> nodes;
  /// The nodes that each process makes, and how many are the most.
  std::vector<std::vector<SumNode<int>>> plan;
  size_t rounds = 0, sent = 0;
  std::vector<int64_t> exchanges;
  OwnArray<T> received;
  int64_t roomReceived = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_GRADIENTSUMS_H
