//===- Members.h - equations become the members of a kernel ---------------===//
//
// Shared by all passes that form kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_KERNELS_MEMBERS_H
#define FOVEA_PASSES_KERNELS_MEMBERS_H

#include "dialect/AttnDialect.h"
#include "passes/analysis/Access.h"

namespace fovea::attn {

/// For a member of strips: the indices that are its kernel's. The last one is
/// the index of rows.
constexpr llvm::StringLiteral sharedName = "attn.shared";
llvm::ArrayRef<int64_t> sharedBy(ComputeOp member);

/// Returns whether an op of a program, or of a loop, costs a launch: inputs and
/// outputs have locations, and a reshape is only a view.
bool isLaunched(mlir::Operation &op);

/// The ops of a kernel that would each cost one, in order.
llvm::SmallVector<mlir::Operation *> launchedIn(KernelOp kernel);

/// Returns whether an array of pairs is internal to a kernel in strips, so that
/// a strip of it suffices: it has one axis more than the shared indices, its
/// last.
bool isStrip(KernelOp kernel, ComputeOp member);

/// Returns whether an op, or a nested one, reads what any of `others` gives.
template <typename Op>
bool readsAny(mlir::Operation &op, llvm::ArrayRef<Op> others) {
  bool result = false;
  forArrays(op, [&](mlir::Operation *, mlir::Value array) {
    result |= llvm::is_contained(others, array.getDefiningOp());
  });
  return result;
}

/// Takes views that no other op of `run` reads out of it, and moves them after
/// the last op that is launched, in their order.
void dropViews(llvm::SmallVectorImpl<mlir::Operation *> &run);

/// Sinks `ops` into a new kernel at the position of the last one; no op in
/// between may depend on them. The kernel yields the arrays that others read.
/// `over`: the extent of the rows, for the schedules that have one.
KernelOp makeKernel(Schedule schedule, llvm::ArrayRef<mlir::Operation *> ops,
                    mlir::Attribute over = {});

} // namespace fovea::attn

#endif // FOVEA_PASSES_KERNELS_MEMBERS_H
