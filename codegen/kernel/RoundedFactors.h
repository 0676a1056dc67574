//===- RoundedFactors.h - sums of products of bf16 numbers ------*- C++ -*-===//
//
// What dialect/RoundedFactors.h defines, in f32: both factors are
// rounded, and each sum below 2^-126 is zero. For numbers and for vectors.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_KERNEL_ROUNDEDFACTORS_H
#define FOVEA_CODEGEN_KERNEL_ROUNDEDFACTORS_H

#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

/// The nearest number of bf16; zero for what is below 2^-126.
mlir::Value factorOf(KernelBuilder &builder, mlir::Value real);

/// `sum` with the product of two factors, rounded once. All are such numbers,
/// or zero.
mlir::Value addProduct(KernelBuilder &builder, mlir::Value left,
                       mlir::Value right, mlir::Value sum);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_KERNEL_ROUNDEDFACTORS_H
