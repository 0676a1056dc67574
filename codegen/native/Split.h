//===- Split.h - one kernel module becomes several ------------*- C++ -*-===//
//
// Compiles equal kernels once, and keeps unchanged kernels in the cache when
// others change.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_SPLIT_H
#define FOVEA_CODEGEN_NATIVE_SPLIT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace fovea::codegen {

/// Splits a kernel module into modules of about `size` ops, in the order of its
/// functions; compile, or link, them together.
///
/// A private function gets a name that ends in a hash of its text, without its
/// old name's trailing number, and linkage `weak_odr`: among functions with
/// equal text one remains, here and between separately split modules. Public
/// functions keep their names. Where a part ends depends only on nearby text,
/// so that a changed kernel changes few parts.
///
/// A function is inlined only into callers in its own part: the emitter must do
/// mandatory inlining.
///
/// Functions that run programs, as `isHost` tells, get one separate module,
/// with the attribute `hostName`. They only hand kernels over, and grow with
/// the number of layers: one takes longer to optimise than all kernels.
///
/// A module with other ops than functions, or with cyclic calls, stays
/// unchanged.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>>
splitModule(mlir::OwningOpRef<mlir::ModuleOp> module, unsigned size = 1000,
            llvm::function_ref<bool(llvm::StringRef symbol)> isHost = nullptr);

/// Marks a module whose functions are compiled without optimisation.
inline constexpr llvm::StringLiteral hostName = "fovea.host";

/// Hashes of a kernel module's functions, equal in every process. Locations
/// and the names of the functions do not count, but the names of callees do.
struct ModuleHashes {
  /// The number of different kernels, and a hash over all of them in any order.
  size_t numKernels = 0;
  uint64_t kernels = 0;
  /// A hash over the functions that run programs.
  uint64_t host = 0;
};

/// Hashes a module in which `isHost` tells the functions that run programs from
/// kernels.
ModuleHashes
hashModule(mlir::ModuleOp module,
           llvm::function_ref<bool(llvm::StringRef symbol)> isHost);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_SPLIT_H
