//===- Passes.h - the passes of CPUs ----------------------------*- C++ -*-===//

#ifndef FOVEA_TARGETS_CPU_PASSES_H
#define FOVEA_TARGETS_CPU_PASSES_H

#include "dialect/AttnDialect.h"
#include "mlir/Pass/Pass.h"

namespace fovea::attn {

#define GEN_PASS_DECL
#include "targets/cpu/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "targets/cpu/Passes.h.inc"

} // namespace fovea::attn

#endif // FOVEA_TARGETS_CPU_PASSES_H
