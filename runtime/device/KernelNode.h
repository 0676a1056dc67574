//===- KernelNode.h - a kernel of a CUDA graph ------------------*- C++ -*-===//

#ifndef FOVEA_RUNTIME_DEVICE_KERNELNODE_H
#define FOVEA_RUNTIME_DEVICE_KERNELNODE_H

namespace fovea::runtime {

/// CUDA_KERNEL_NODE_PARAMS_v2, of drivers from 12.0 on.
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

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_KERNELNODE_H
