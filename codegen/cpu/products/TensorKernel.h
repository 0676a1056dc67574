//===- TensorKernel.h - the sums of tensor cores on a CPU -----*- C++ -*-===//
//
// In the place of a micro-kernel: the terms of a row of A become consecutive,
// and the runtime adds them to a row of C, panel by panel. It is slow, and has
// the bits of a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PRODUCTS_TENSORKERNEL_H
#define FOVEA_CODEGEN_CPU_PRODUCTS_TENSORKERNEL_H

#include "codegen/cpu/products/MicroKernel.h"
#include "codegen/kernel/TensorCoreCall.h"

namespace fovea::codegen {

/// A call of a kernel has a multiple of so many terms before it: groups are
/// whole.
constexpr int64_t termsOfGroups = attn::mostGroupTerms;

/// Declares that function.
void declareTensorCore(KernelBuilder &builder, mlir::ModuleOp module);

/// Adds the function that `emitMicroKernel` adds for chains.
std::string emitTensorKernel(KernelBuilder &builder, GemmElement element,
                             const GemmTile &tile, const KernelShape &shape);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PRODUCTS_TENSORKERNEL_H
