//===- Machine.h - what passes know of a CPU ------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_MACHINE_H
#define FOVEA_CODEGEN_CPU_MACHINE_H

#include "codegen/native/Target.h"
#include "dialect/AttnDialect.h"

namespace fovea::codegen {

/// Describes a CPU to the passes, for the real type `real`.
attn::TargetAttr describe(const Target &target, mlir::Type real);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_MACHINE_H
