//===- Peak.h - what a thread could compute at most -------------*- C++ -*-===//
//
// The peak-rate benchmark: multiply-adds that wait for nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PRODUCTS_PEAK_H
#define FOVEA_CODEGEN_CPU_PRODUCTS_PEAK_H

#include "codegen/native/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace fovea::codegen {

/// Adds `@fma_peak(%turns: i64, %values: ptr)` to the module: each turn does
/// `peakFlops` operations on the first vectors of `values`, 12 of them.
void emitPeak(mlir::ModuleOp module, mlir::Type element, const Target &target);

/// The operations per turn; a multiply-add counts as two.
int64_t peakFlops(mlir::Type element, const Target &target);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PRODUCTS_PEAK_H
