//===- TensorCoreCall.h - a function that kernels call --------------------===//

#ifndef FOVEA_CODEGEN_KERNEL_TENSORCORECALL_H
#define FOVEA_CODEGEN_KERNEL_TENSORCORECALL_H

#include "llvm/ADT/StringRef.h"

namespace fovea::codegen {

/// The function of the runtime that adds products in groups
/// (runtime/TensorCore.h).
constexpr llvm::StringLiteral tensorCoreName = "fovea_tensor_core";

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_KERNEL_TENSORCORECALL_H
