//===- DeviceCode.h - what runs on the device, and what calls it ----------===//
//
// Compiles the kernels of a module to PTX, which stays in the module as data
// beside the functions that launch them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_DEVICE_DEVICECODE_H
#define FOVEA_CODEGEN_GPU_DEVICE_DEVICECODE_H

#include "codegen/Backend.h"

namespace fovea::codegen {

/// The text of the kernels as LLVM IR or as PTX.
llvm::Expected<std::string> deviceCode(mlir::ModuleOp kernels,
                                       const Target &target, DeviceText text);

/// Moves the kernels out of the module. `image` is the device's code. Launches
/// become runtime calls (runtime/device/Launch.h), which find the end of the
/// image by a terminating 0.
void embedDevice(mlir::ModuleOp kernels, const std::string &image);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_DEVICE_DEVICECODE_H
