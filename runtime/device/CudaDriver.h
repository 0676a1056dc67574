//===- CudaDriver.h - the functions of CUDA's driver ------------*- C++ -*-===//
//
// Private to the device. CudaApi.def lists the functions; structures have the
// layout that the driver expects.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DEVICE_CUDADRIVER_H
#define FOVEA_RUNTIME_DEVICE_CUDADRIVER_H

#include "runtime/Status.h"
#include "runtime/device/KernelNode.h"

#include <cstddef>

namespace fovea::runtime {

struct CudaDriver {
#define CUDA_FUNCTION(name, arguments) int(*name) arguments = nullptr;
#include "runtime/device/CudaApi.def"

  Status load();
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_CUDADRIVER_H
