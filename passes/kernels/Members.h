//===- Members.h - equations become the members of a kernel ---------------===//
//
// What every pass that forms kernels does in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_KERNELS_MEMBERS_H
#define FOVEA_PASSES_KERNELS_MEMBERS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Of a member of strips: which of its indices are those of its kernel.
constexpr llvm::StringLiteral sharedName = "attn.shared";

/// Moves consecutive ops of a block into a kernel, which yields what others
/// read.
KernelOp makeKernel(Schedule schedule, llvm::ArrayRef<mlir::Operation *> ops);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_MEMBERS_H
