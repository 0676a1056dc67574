//===- NumberedOps.h - the ops of a program by number -----------*- C++ -*-===//

#ifndef FOVEA_DIALECT_LAUNCH_NUMBEREDOPS_H
#define FOVEA_DIALECT_LAUNCH_NUMBEREDOPS_H

#include "dialect/AttnDialect.h"

namespace fovea::launch {

/// The ops of a program by number, as a schedule names them.
llvm::SmallVector<mlir::Operation *> numberedOps(attn::ProgramOp program);

} // namespace fovea::launch

#endif // FOVEA_DIALECT_LAUNCH_NUMBEREDOPS_H
