//===- Machine.h - what passes know of a CPU ------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_MACHINE_H
#define FOVEA_CODEGEN_CPU_MACHINE_H

#include "codegen/native/Target.h"
#include "dialect/AttnDialect.h"

namespace fovea::codegen {

/// The machine that passes ask, for real numbers of the type `real`.
attn::MachineAttr machineOf(const Target &target, mlir::Type real);

/// Brings a program that is behind the phase `fuse` through the phase `kernels`
/// for this machine. One that has kernels stays as it is: they have to be
/// of the same machine.
mlir::LogicalResult formKernels(attn::ProgramOp program, const Target &target,
                                mlir::Type real);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_MACHINE_H
