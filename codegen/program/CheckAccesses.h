//===- CheckAccesses.h - code that checks its accesses ----------*- C++ -*-===//

#ifndef FOVEA_CODEGEN_PROGRAM_CHECKACCESSES_H
#define FOVEA_CODEGEN_PROGRAM_CHECKACCESSES_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/memory/CheckedRun.h"

namespace fovea::codegen {

/// Gives each op of a program a location with the name of its equation, which
/// its kernels inherit.
void nameLocations(attn::ProgramOp program);

/// Puts a call of the functions in runtime/memory/CheckedRun.h ahead of each
/// access to memory, in all functions of a kernel module. Nothing else changes,
/// so results have the same bits. Appends to `sites` the equations that the
/// calls refer to by number. Fails, with an error at the op, if memory is
/// accessed in a way that has no check.
///
///     %v = llvm.load %a : !llvm.ptr -> f32
///     // becomes, for an address that began as slot 11 of the frame,
///     %b = call @fovea_check_access(%a, %root, 11, 4, 1, ..)
///     %v = llvm.load %b : !llvm.ptr -> f32
mlir::LogicalResult checkAccesses(mlir::ModuleOp kernels,
                                  std::vector<runtime::CheckedSite> &sites);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_CHECKACCESSES_H
