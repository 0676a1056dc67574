//===- Passes.h - the passes of GPUs of NVIDIA ------------------*- C++ -*-===//

#ifndef FOVEA_TARGETS_NVIDIA_PASSES_H
#define FOVEA_TARGETS_NVIDIA_PASSES_H

#include "dialect/AttnDialect.h"
#include "mlir/Pass/Pass.h"

namespace fovea::attn {

#define GEN_PASS_DECL
#include "targets/nvidia/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "targets/nvidia/Passes.h.inc"

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_PASSES_H
