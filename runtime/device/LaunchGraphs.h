//===- LaunchGraphs.h - launches that come again, as one --------*- C++ -*-===//
//
// Submits a list of launches as one CUDA graph if the same kernels came before
// in the same order. In the graph each node follows the one before. Only nodes
// with new numbers or grids are updated. A list that occurs once is launched
// directly: making a graph takes longer than the launches.
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

/// Launches in order, with all their parameters.
class LaunchList {
public:
  struct Launch {
    /// Null: a copy.
    void *function = nullptr;
    unsigned blocks = 1, threads = 1, sharedBytes = 0, clusterBlocks = 1;
    /// The numbers of a launch: the list passed by value, and its work units;
    /// of a copy, two addresses and the bytes.
    size_t first = 0, count = 0;
    bool toHost = false;
  };

  /// `next` without its numbers.
  void add(Launch next, const int64_t *list, int64_t slots, int64_t units);
  void addCopy(void *to, const void *from, size_t bytes, bool toHost);
  void clear();
  size_t size() const { return launches.size(); }

  std::vector<Launch> launches;
  std::vector<int64_t> numbers;
};

class LaunchGraphs {
public:
  explicit LaunchGraphs(const CudaDriver &driver) : driver(driver) {}

  /// Off: every list is launched directly.
  void setOn(bool next) { isOn = next; }
  void setContext(void *next) { context = next; }

  /// Submits launches in order. Returns the driver's error; 0: none.
  int send(const LaunchList &list);

private:
  struct Graph {
    /// The latest parameters of the nodes.
    LaunchList told;
    std::vector<void *> nodes;
    /// Null: submitted once, graph not made yet.
    void *graph = nullptr, *executable = nullptr;
    uint64_t lastSent = 0;
    /// The driver cannot make the graph.
    bool isRefused = false;
  };

  int sendEach(const LaunchList &list) const;
  int sendOne(const LaunchList &list, const LaunchList::Launch &launch) const;
  int addNode(const LaunchList &list, const LaunchList::Launch &launch,
              Graph &graph) const;
  bool make(const LaunchList &list, Graph &graph) const;
  int tell(const LaunchList &list, Graph &graph) const;
  int tellNode(const LaunchList &list, const LaunchList::Launch &launch,
               void *executable, void *node) const;
  void drop(Graph &graph) const;
  void makeRoom();

  const CudaDriver &driver;
  bool isOn = true;
  void *context = nullptr;
  std::mutex mutex; // of the following
  std::unordered_map<uint64_t, Graph> graphs;
  uint64_t numSent = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_LAUNCHGRAPHS_H
