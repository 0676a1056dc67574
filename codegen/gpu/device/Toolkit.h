//===- Toolkit.h - what CUDA's toolkit makes of PTX -----------------------===//
//
// PTX needs no toolkit: drivers compile it. Where one is found, its assembler
// makes machine code for one architecture.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_DEVICE_TOOLKIT_H
#define FOVEA_CODEGEN_GPU_DEVICE_TOOLKIT_H

#include "codegen/DeviceModel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fovea::codegen {

/// PTX as the bytes of a cubin, by the `ptxas` of $CUDA_PATH/bin or of $PATH.
llvm::Expected<std::string> makeCubin(const std::string &ptx,
                                      llvm::StringRef architecture);

/// What a driver loads: PTX with the cubin beside it, for devices that it fits,
/// or, without a toolkit, PTX alone.
llvm::Expected<std::string> addCubin(const std::string &ptx,
                                     llvm::StringRef architecture);

/// What the kernels of PTX need of a processor: the memory that a block shares,
/// and, where there is a toolkit, registers.
llvm::Expected<NeedsOfKernels> needsOfKernels(const std::string &ptx,
                                              llvm::StringRef architecture);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_DEVICE_TOOLKIT_H
