//===- MachineCode.h - what a GPU issues for a product ----------*- C++ -*-===//
//
// A disassembler's listing says how many instructions a loop has. Bounds of
// kernel times count them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_DEVICE_MACHINECODE_H
#define FOVEA_CODEGEN_GPU_DEVICE_MACHINECODE_H

#include "codegen/DeviceModel.h"
#include "llvm/ADT/StringRef.h"

namespace fovea::codegen {

/// Reads the listing of `nvdisasm -c` and notes the cost of products for each
/// kernel in `needs` with a loop that multiplies. Other kernels keep none.
void readProductCosts(llvm::StringRef listing, NeedsOfKernels &needs);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_DEVICE_MACHINECODE_H
