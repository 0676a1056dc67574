//===- KernelNode.h - what CUDA is told of a launch -------------*- C++ -*-===//

#ifndef FOVEA_RUNTIME_DEVICE_KERNELNODE_H
#define FOVEA_RUNTIME_DEVICE_KERNELNODE_H

#include <cstddef>

namespace fovea::runtime {

/// CUDA_KERNEL_NODE_PARAMS_v2, for drivers from 12.0 on.
struct KernelNode {
  void *function = nullptr;
  unsigned blocksX = 1, blocksY = 1, blocksZ = 1;
  unsigned threadsX = 1, threadsY = 1, threadsZ = 1;
  unsigned sharedBytes = 0;
  /// Addresses of the parameters, whose values are copied.
  void **parameters = nullptr;
  void **extra = nullptr;
  void *kernel = nullptr, *context = nullptr;
};

/// CUDA_MEMCPY3D of one row, between the host and the device.
struct CopyNode {
  enum Memory : int { OfHost = 1, OfDevice = 2 };
  struct Side {
    size_t x = 0, y = 0, z = 0, level = 0;
    int memory = OfHost;
    int filling = 0;
    void *host = nullptr, *device = nullptr, *array = nullptr,
         *reserved = nullptr;
    size_t pitch = 0, height = 0;
  };
  Side from, to;
  size_t bytes = 0, height = 1, depth = 1;
};

/// CUlaunchAttribute with CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION. From
/// `clusterX` on it is a CUlaunchAttributeValue of 64 bytes.
struct ClusterAttribute {
  static constexpr int clusterDimension = 4;
  int id = clusterDimension;
  int filling = 0;
  unsigned clusterX = 1, clusterY = 1, clusterZ = 1;
  unsigned rest[13] = {};
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned blocksX = 1, blocksY = 1, blocksZ = 1;
  unsigned threadsX = 1, threadsY = 1, threadsZ = 1;
  unsigned sharedBytes = 0;
  void *stream = nullptr;
  const ClusterAttribute *attributes = nullptr;
  unsigned numAttributes = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_KERNELNODE_H
