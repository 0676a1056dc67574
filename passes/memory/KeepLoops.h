//===- KeepLoops.h - loops that stay on a device ----------------*- C++ -*-===//

#ifndef FOVEA_PASSES_MEMORY_KEEPLOOPS_H
#define FOVEA_PASSES_MEMORY_KEEPLOOPS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Whether `attn-keep-loops` found that all steps of a loop may be one launch.
bool staysOnDevice(ScanOp loop);

/// When an op of such a loop is computed in its step: those of one phase do not
/// need each other. What commits the step comes after all.
int64_t phaseOf(mlir::Operation *op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_KEEPLOOPS_H
