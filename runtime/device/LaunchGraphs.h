//===- LaunchGraphs.h - launches that come again, as one --------*- C++ -*-===//
//
// A list of launches whose kernels have come before in the same order goes out
// as one CUDA graph, of which each node follows the one before. Only nodes that
// are given other numbers, or other grids, are told. What comes once is
// launched as it is: to make a graph takes longer than to launch what is in it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DEVICE_LAUNCHGRAPHS_H
#define FOVEA_RUNTIME_DEVICE_LAUNCHGRAPHS_H

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace fovea::runtime {

struct CudaDriver;

/// Launches in their order, with all that they are given.
class LaunchList {
public:
  struct Launch {
    void *function = nullptr;
    unsigned blocks = 1, threads = 1, sharedBytes = 0, clusterBlocks = 1;
    /// Its numbers: the list that it gets by value, and its work units.
    size_t first = 0, count = 0;
  };

  /// `next` without its numbers.
  void add(Launch next, const int64_t *list, int64_t slots, int64_t units);
  void clear();
  size_t size() const { return launches.size(); }

  std::vector<Launch> launches;
  std::vector<int64_t> numbers;
};

class LaunchGraphs {
public:
  explicit LaunchGraphs(const CudaDriver &driver) : driver(driver) {}

  /// Off: all is launched as it is.
  void setOn(bool next) { isOn = next; }

  /// Sends launches, in their order. Returns the driver's error; 0: none.
  int send(const LaunchList &list);

private:
  struct Graph {
    /// What its nodes were told last.
    LaunchList told;
    std::vector<void *> nodes;
    /// Null: it was sent once, and is not made yet.
    void *graph = nullptr, *executable = nullptr;
    uint64_t lastSent = 0;
    /// The driver cannot make it.
    bool isRefused = false;
  };

  int sendEach(const LaunchList &list) const;
  int addNode(const LaunchList &list, const LaunchList::Launch &launch,
              Graph &graph) const;
  bool make(const LaunchList &list, Graph &graph) const;
  int tell(const LaunchList &list, Graph &graph) const;
  void drop(Graph &graph) const;
  void makeRoom();

  const CudaDriver &driver;
  bool isOn = true;
  std::mutex mutex; // of the following
  std::unordered_map<uint64_t, Graph> graphs;
  uint64_t numSent = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_LAUNCHGRAPHS_H
