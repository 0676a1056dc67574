//===- Members.h - equations become the members of a kernel ---------------===//
//
// What every pass that forms kernels does in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_KERNELS_MEMBERS_H
#define FOVEA_PASSES_KERNELS_MEMBERS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Of a member of strips: which of its indices are those of its kernel. The
/// last one is that of rows.
constexpr llvm::StringLiteral sharedName = "attn.shared";
llvm::ArrayRef<int64_t> sharedBy(ComputeOp member);

/// Whether an op of a program, or of a loop, costs a launch: inputs and outputs
/// have their places, and a reshape is another view.
bool isLaunched(mlir::Operation &op);

/// Whether a kernel in strips has an array of pairs to itself, of which a strip
/// is enough: one with an axis more than the shared indices, its last.
bool isStrip(KernelOp kernel, ComputeOp member);

/// Moves ops of a block, which nothing between them needs, into a kernel where
/// the last of them stands. It yields what others read.
KernelOp makeKernel(Schedule schedule, llvm::ArrayRef<mlir::Operation *> ops);

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_MEMBERS_H
