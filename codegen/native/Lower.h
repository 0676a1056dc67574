//===- Lower.h - kernel modules become the LLVM dialect -------*- C++ -*-===//
//
// A kernel module is a module of `func.func`s. Its dialects are func, scf, cf,
// arith, math, vector (one-dimensional vectors), ub and the memory ops of llvm.
// These are `llvm.load`, `llvm.getelementptr` and `llvm.intr.masked.*`, on
// `!llvm.ptr`. It has no memrefs and no tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_LOWER_H
#define FOVEA_CODEGEN_NATIVE_LOWER_H

#include "codegen/native/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace fovea::codegen {

/// Registers every dialect of a kernel module and its translation to LLVM IR.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Loads them into a context, which lowering needs and does not do itself.
void loadKernelDialects(mlir::MLIRContext &context);

/// Rewrites a kernel module into the LLVM dialect, in place.
///
/// - `vector.fma` and `math.fma` are one rounding, or where the target has no
///   such instruction a product and a sum; nothing else becomes an FMA and no
///   flag of fast-math is added.
/// - `vector.reduction` of floats is one chain in ascending order.
/// - `vector.create_mask` is right for every index, also beyond 2^31.
/// - A private function with a body becomes internal to its object.
/// - `func.constant @f` with an `unrealized_conversion_cast` to `!llvm.ptr` is
///   the address of @f.
///
/// Ops without an instruction or intrinsic (`math.exp`) must be expanded
/// before: they become calls into libm that no kernel may make. Fails with a
/// diagnostic at any other op.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, const Target &target);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_LOWER_H
