//===- Split.h - one kernel module becomes several ------------*- C++ -*-===//
//
// Kernels that are equal are compiled once, and kernels that do not change are
// found in the cache again when others do.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_SPLIT_H
#define FOVEA_CODEGEN_NATIVE_SPLIT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace fovea::codegen {

/// Cuts a kernel module into modules of about `size` ops, in the order of its
/// functions; they are to be compiled, or linked, together.
///
/// A private function gets a name that ends in a hash of its text, without its
/// old name's trailing number, and linkage `weak_odr`: of functions with equal
/// text one remains, here and between modules that were split apart. Public
/// functions keep their names. Where a part ends depends on the text near it
/// alone, so that a changed kernel changes few parts.
///
/// A function is inlined into callers of its own part only: what must be
/// inlined is the emitter's to inline.
///
/// A module that has more than functions, or functions that call each other in
/// a circle, stays as it is.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>>
splitModule(mlir::OwningOpRef<mlir::ModuleOp> module, unsigned size = 1000);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_SPLIT_H
