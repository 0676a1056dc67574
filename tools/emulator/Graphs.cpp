//===- Graphs.cpp - CUDA graphs by an emulator ----------------------------===//
//
// A node runs after the nodes that it follows. Among several ready ones the
// first is next, or in another schedule the last: a missing dependency changes
// the results.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/KernelNode.h"
#include "tools/emulator/Launch.h"

#include <fmt/format.h>
#include <memory>

using namespace fovea::emulator;
using fovea::runtime::ClusterAttribute;
using fovea::runtime::CopyNode;
using fovea::runtime::KernelNode;

namespace {
struct Node {
  size_t number = 0; // in its graph
  std::vector<size_t> before;
  const Kernel *kernel = nullptr; // null: a copy
  CopyNode copied;
  Grid grid;
  std::vector<int64_t> list;
  int64_t units = 0;

  int run() const;

  /// By value, as in the driver.
  void take(const KernelNode &told) {
    kernel = static_cast<const Kernel *>(told.function);
    grid = {told.blocksX, told.threadsX, told.sharedBytes, grid.cluster};
    const auto *numbers = static_cast<const int64_t *>(told.parameters[0]);
    list.assign(numbers, numbers + kernel->slots());
    units = *static_cast<const int64_t *>(told.parameters[1]);
  }
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

/// A separate copy, whose numbers may be updated.
struct Executable {
  std::vector<Node> nodes;
};
} // namespace

int Node::run() const {
  if (!kernel) {
    bool toHost = copied.to.memory == CopyNode::OfHost;
    log(fmt::format("copies {} bytes to the {}", copied.bytes,
                    toHost ? "host" : "device"));
    return copy(toHost ? copied.to.host : copied.to.device,
                toHost ? copied.from.device : copied.from.host, copied.bytes,
                toHost, /*isLater=*/true);
  }
  int64_t own = units;
  void *parameters[] = {const_cast<int64_t *>(list.data()), &own};
  return launch(*kernel, grid, parameters);
}

/// Adds a node after others, and returns it.
static Node &addNode(void **node, void *graph, void *const *dependencies,
                     size_t count) {
  auto &nodes = static_cast<Graph *>(graph)->nodes;
  auto next = std::make_unique<Node>();
  next->number = nodes.size();
  for (size_t i = 0; i < count; ++i)
    next->before.push_back(static_cast<Node *>(dependencies[i])->number);
  *node = next.get();
  nodes.push_back(std::move(next));
  return *nodes.back();
}

EXPORT cuGraphCreate(void **graph, unsigned) {
  *graph = new Graph;
  return 0;
}
EXPORT cuGraphDestroy(void *graph) {
  delete static_cast<Graph *>(graph);
  return 0;
}
EXPORT cuGraphAddKernelNode_v2(void **node, void *graph,
                               void *const *dependencies, size_t count,
                               const KernelNode *parameters) {
  addNode(node, graph, dependencies, count).take(*parameters);
  return 0;
}
EXPORT cuGraphAddMemcpyNode(void **node, void *graph, void *const *dependencies,
                            size_t count, const CopyNode *parameters, void *) {
  addNode(node, graph, dependencies, count).copied = *parameters;
  return 0;
}
EXPORT cuGraphKernelNodeSetAttribute(void *node, int attribute,
                                     const void *value) {
  if (attribute != ClusterAttribute::clusterDimension)
    return answer(badValue, "an attribute of a node that is not known");
  static_cast<Node *>(node)->grid.cluster =
      *static_cast<const unsigned *>(value);
  return 0;
}

EXPORT cuGraphInstantiateWithFlags(void **executable, void *graph,
                                   unsigned long long) {
  std::lock_guard lock(driverMutex());
  if (numberOf("FOVEA_EMULATOR_GRAPHS", 1) == 0)
    return answer(outOfMemory, "out of memory");
  auto own = std::make_unique<Executable>();
  for (const auto &node : static_cast<Graph *>(graph)->nodes)
    own->nodes.push_back(*node);
  log(fmt::format("graph of {} launches is made", own->nodes.size()));
  *executable = own.release();
  return 0;
}
EXPORT cuGraphExecDestroy(void *executable) {
  delete static_cast<Executable *>(executable);
  return 0;
}
EXPORT cuGraphExecKernelNodeSetParams_v2(void *executable, void *node,
                                         const KernelNode *parameters) {
  std::lock_guard lock(driverMutex());
  if (machine().fault == Fault::Updates)
    return 0;
  size_t number = static_cast<Node *>(node)->number;
  static_cast<Executable *>(executable)->nodes[number].take(*parameters);
  return 0;
}
EXPORT cuGraphExecMemcpyNodeSetParams(void *executable, void *node,
                                      const CopyNode *parameters, void *) {
  std::lock_guard lock(driverMutex());
  size_t number = static_cast<Node *>(node)->number;
  static_cast<Executable *>(executable)->nodes[number].copied = *parameters;
  return 0;
}

EXPORT cuGraphLaunch(void *executable, void *) {
  std::lock_guard lock(driverMutex());
  const std::vector<Node> &nodes = static_cast<Executable *>(executable)->nodes;
  log(fmt::format("graph of {} launches", nodes.size()));
  std::vector<char> hasRun(nodes.size(), false);
  for (size_t count = 0; count < nodes.size(); ++count) {
    const Node *next = nullptr;
    for (const Node &node : nodes) {
      bool isReady = !hasRun[node.number];
      for (size_t before : node.before)
        isReady &= hasRun[before] != 0;
      if (!isReady)
        continue;
      next = &node;
      if (machine().schedule == Schedule::Ascending)
        break;
    }
    if (!next)
      return answer(badValue, "a graph has a circle");
    hasRun[next->number] = true;
    if (int error = next->run())
      return error;
  }
  return 0;
}
