//===- LaunchGraphs.cpp - launches that come again, as one ----------------===//

#include "runtime/device/LaunchGraphs.h"
#include "runtime/device/CudaDriver.h"

#include <algorithm>

using namespace fovea::runtime;

/// Shorter graphs gain nothing.
static constexpr size_t leastLaunches = 3;
/// The limit over all graphs, so that they do not fill the device; a node takes
/// some KB there.
static constexpr size_t mostNodes = size_t(1) << 15;
/// The number of known lists.
static constexpr size_t mostLists = 4096;

void LaunchList::add(Launch next, const int64_t *list, int64_t slots,
                     int64_t units) {
  next.first = numbers.size();
  next.count = static_cast<size_t>(slots) + 1;
  launches.push_back(next);
  numbers.insert(numbers.end(), list, list + slots);
  numbers.push_back(units);
}

void LaunchList::addCopy(void *to, const void *from, size_t bytes,
                         bool toHost) {
  launches.push_back({.first = numbers.size(), .count = 3, .toHost = toHost});
  numbers.insert(numbers.end(), {reinterpret_cast<int64_t>(to),
                                 reinterpret_cast<int64_t>(from),
                                 static_cast<int64_t>(bytes)});
}

void LaunchList::clear() {
  launches.clear();
  numbers.clear();
}

/// The addresses of a launch's parameters: the driver copies the values.
static void findParameters(const LaunchList &list,
                           const LaunchList::Launch &launch,
                           void *(&parameters)[2]) {
  auto *first = const_cast<int64_t *>(list.numbers.data()) + launch.first;
  parameters[0] = first;
  parameters[1] = first + launch.count - 1;
}

static KernelNode nodeOf(const LaunchList::Launch &launch,
                         void *(&parameters)[2]) {
  KernelNode node;
  node.function = launch.function;
  node.blocksX = launch.blocks;
  node.threadsX = launch.threads;
  node.sharedBytes = launch.sharedBytes;
  node.parameters = parameters;
  return node;
}

namespace {
struct Copy {
  void *to;
  void *from;
  size_t bytes;
};
} // namespace

static Copy copyOf(const LaunchList &list, const LaunchList::Launch &launch) {
  const int64_t *numbers = list.numbers.data() + launch.first;
  return {reinterpret_cast<void *>(numbers[0]),
          reinterpret_cast<void *>(numbers[1]),
          static_cast<size_t>(numbers[2])};
}

static CopyNode copyNodeOf(const LaunchList &list,
                           const LaunchList::Launch &launch) {
  Copy copy = copyOf(list, launch);
  CopyNode node;
  (launch.toHost ? node.from : node.to).memory = CopyNode::OfDevice;
  (launch.toHost ? node.from.device : node.from.host) = copy.from;
  (launch.toHost ? node.to.host : node.to.device) = copy.to;
  node.bytes = node.from.pitch = node.to.pitch = copy.bytes;
  node.from.height = node.to.height = 1;
  return node;
}

static bool haveSameKernels(const LaunchList &a, const LaunchList &b) {
  return std::equal(a.launches.begin(), a.launches.end(), b.launches.begin(),
                    b.launches.end(), [](const auto &one, const auto &other) {
                      return one.function == other.function &&
                             one.toHost == other.toHost &&
                             one.threads == other.threads;
                    });
}

/// A hash of the kernels in order (FNV-1a, by words).
static uint64_t keyOf(const LaunchList &list) {
  uint64_t key = 0xcbf29ce484222325;
  for (const LaunchList::Launch &launch : list.launches) {
    key = (key ^ (reinterpret_cast<uintptr_t>(launch.function) +
                  static_cast<uintptr_t>(launch.toHost))) *
          0x100000001b3;
    key ^= key >> 29;
  }
  return key;
}

int LaunchGraphs::sendOne(const LaunchList &list,
                          const LaunchList::Launch &launch) const {
  if (!launch.function) {
    Copy copy = copyOf(list, launch);
    return launch.toHost ? driver.cuMemcpyDtoHAsync_v2(copy.to, copy.from,
                                                       copy.bytes, nullptr)
                         : driver.cuMemcpyHtoDAsync_v2(copy.to, copy.from,
                                                       copy.bytes, nullptr);
  }
  void *parameters[2];
  findParameters(list, launch, parameters);
  ClusterAttribute cluster;
  cluster.clusterX = launch.clusterBlocks;
  LaunchConfig config;
  config.blocksX = launch.blocks;
  config.threadsX = launch.threads;
  config.sharedBytes = launch.sharedBytes;
  config.attributes = &cluster;
  config.numAttributes = launch.clusterBlocks > 1 ? 1 : 0;
  return driver.cuLaunchKernelEx(&config, launch.function, parameters, nullptr);
}

int LaunchGraphs::sendEach(const LaunchList &list) const {
  for (const LaunchList::Launch &launch : list.launches)
    if (int error = sendOne(list, launch))
      return error;
  return 0;
}

/// Adds the next node of a graph, after the last one.
int LaunchGraphs::addNode(const LaunchList &list,
                          const LaunchList::Launch &launch,
                          Graph &graph) const {
  void *before = graph.nodes.empty() ? nullptr : graph.nodes.back();
  void *&own = graph.nodes.emplace_back();
  if (!launch.function) {
    CopyNode copy = copyNodeOf(list, launch);
    return driver.cuGraphAddMemcpyNode(&own, graph.graph, &before,
                                       before ? 1 : 0, &copy, context);
  }
  void *parameters[2];
  findParameters(list, launch, parameters);
  KernelNode node = nodeOf(launch, parameters);
  int error = driver.cuGraphAddKernelNode_v2(&own, graph.graph, &before,
                                             before ? 1 : 0, &node);
  if (error != 0 || launch.clusterBlocks == 1)
    return error;
  ClusterAttribute cluster;
  cluster.clusterX = launch.clusterBlocks;
  return driver.cuGraphKernelNodeSetAttribute(own, cluster.id,
                                              &cluster.clusterX);
}

/// Returns false if the driver fails without running out of memory.
bool LaunchGraphs::make(const LaunchList &list, Graph &graph) const {
  int error = driver.cuGraphCreate(&graph.graph, /*flags=*/0);
  for (const LaunchList::Launch &launch : list.launches) {
    if (error != 0)
      break;
    error = addNode(list, launch, graph);
  }
  if (error == 0)
    error = driver.cuGraphInstantiateWithFlags(&graph.executable, graph.graph,
                                               /*flags=*/0);
  if (error == 0)
    graph.told = list;
  return error == 0;
}

int LaunchGraphs::tellNode(const LaunchList &list,
                           const LaunchList::Launch &launch, void *executable,
                           void *node) const {
  if (!launch.function) {
    CopyNode copy = copyNodeOf(list, launch);
    return driver.cuGraphExecMemcpyNodeSetParams(executable, node, &copy,
                                                 context);
  }
  void *parameters[2];
  findParameters(list, launch, parameters);
  KernelNode next = nodeOf(launch, parameters);
  return driver.cuGraphExecKernelNodeSetParams_v2(executable, node, &next);
}

/// Updates the nodes whose parameters changed.
int LaunchGraphs::tell(const LaunchList &list, Graph &graph) const {
  for (size_t number = 0; number < list.size(); ++number) {
    const LaunchList::Launch &launch = list.launches[number];
    LaunchList::Launch &told = graph.told.launches[number];
    const int64_t *numbers = list.numbers.data() + launch.first;
    int64_t *old = graph.told.numbers.data() + told.first;
    if (launch.blocks == told.blocks &&
        launch.sharedBytes == told.sharedBytes &&
        std::equal(numbers, numbers + launch.count, old))
      continue;
    if (int error =
            tellNode(list, launch, graph.executable, graph.nodes[number]))
      return error;
    told.blocks = launch.blocks;
    told.sharedBytes = launch.sharedBytes;
    std::copy(numbers, numbers + launch.count, old);
  }
  return 0;
}

void LaunchGraphs::drop(Graph &graph) const {
  if (graph.executable)
    driver.cuGraphExecDestroy(graph.executable);
  if (graph.graph)
    driver.cuGraphDestroy(graph.graph);
  graph.executable = graph.graph = nullptr;
  graph.nodes.clear();
  graph.told.clear();
}

/// Evicts the least recently launched graph.
void LaunchGraphs::makeRoom() {
  size_t nodes = 0;
  for (const auto &[key, graph] : graphs)
    nodes += graph.nodes.size();
  while (graphs.size() > mostLists || nodes > mostNodes) {
    auto oldest = std::min_element(
        graphs.begin(), graphs.end(), [](const auto &a, const auto &b) {
          return a.second.lastSent < b.second.lastSent;
        });
    nodes -= oldest->second.nodes.size();
    drop(oldest->second);
    graphs.erase(oldest);
  }
}

int LaunchGraphs::send(const LaunchList &list) {
  if (!isOn || list.size() < leastLaunches)
    return sendEach(list);
  std::lock_guard lock(mutex);
  auto [place, isNew] = graphs.try_emplace(keyOf(list));
  Graph &graph = place->second;
  graph.lastSent = ++numSent;
  if (isNew)
    makeRoom();
  if (isNew || graph.isRefused)
    return sendEach(list);
  if (!graph.executable) {
    if (!make(list, graph)) {
      drop(graph);
      graph.isRefused = true;
      return sendEach(list);
    }
    makeRoom();
  } else if (!haveSameKernels(graph.told, list)) {
    return sendEach(list); // another list of the same key
  } else if (int error = tell(list, graph)) {
    return error;
  }
  return driver.cuGraphLaunch(graph.executable, /*stream=*/nullptr);
}
