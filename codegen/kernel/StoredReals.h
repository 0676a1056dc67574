//===- StoredReals.h - real numbers from fewer bits -------------*- C++ -*-===//

#ifndef FOVEA_CODEGEN_KERNEL_STOREDREALS_H
#define FOVEA_CODEGEN_KERNEL_STOREDREALS_H

#include "codegen/kernel/KernelBuilder.h"
#include "runtime/data/StorageFormat.h"

namespace fovea::codegen {

/// The f32 that has these bits in a rounded format: one, or a vector.
mlir::Value realOf(KernelBuilder &builder, mlir::Value bits,
                   const runtime::StorageFormat &format);

/// The nearest number of bf16 as a real number: of one, or of a vector.
mlir::Value roundedOf(KernelBuilder &builder, mlir::Value real);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_KERNEL_STOREDREALS_H
