//===- Toolkit.h - what CUDA's toolkit makes of PTX -----------------------===//
//
// PTX needs no toolkit: drivers compile it. If a toolkit is installed, its
// assembler makes machine code for one architecture.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_DEVICE_TOOLKIT_H
#define FOVEA_CODEGEN_GPU_DEVICE_TOOLKIT_H

#include "codegen/DeviceModel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fovea::codegen {

/// Assembles PTX to a cubin, with the `ptxas` of $CUDA_PATH/bin or $PATH.
llvm::Expected<std::string> makeCubin(const std::string &ptx,
                                      llvm::StringRef architecture);

/// The input for the driver: PTX with the cubin for matching devices, or,
/// without a toolkit, PTX alone.
llvm::Expected<std::string> addCubin(const std::string &ptx,
                                     llvm::StringRef architecture);

/// The processor resources that the kernels in PTX need: shared memory; with
/// `ptxas`, registers; and with `nvdisasm` as well, instructions of products.
llvm::Expected<NeedsOfKernels> needsOfKernels(const std::string &ptx,
                                              llvm::StringRef architecture);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_DEVICE_TOOLKIT_H
