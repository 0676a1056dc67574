//===- CommonFunctions.h - what two equations both evaluate ---------------===//
//
// Finds functions, such as tanh, that two equations evaluate at the same
// places of the same arrays, whatever the names and order of their
// indices. Compares only the scalars of a body itself, not those in a
// branch.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_COMMONFUNCTIONS_H
#define FOVEA_PASSES_ANALYSIS_COMMONFUNCTIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// For each index of an equation, the matching index of another one.
using IndexMap = llvm::SmallVector<unsigned>;

/// Returns whether an op of a body takes many times as long as an addition.
bool isCostly(mlir::Operation *op);

/// Returns whether the body of `op` evaluates a costly function.
bool hasCostlyFunction(ComputeOp op);

/// Returns the one-to-one index mappings from `b` to `a`, with equal
/// bounds, under which a costly function of all indices has the same
/// arguments. Bounded work: bodies of hundreds of terms may miss
/// some.
llvm::SmallVector<IndexMap> commonPlaces(ComputeOp a, ComputeOp b);

/// Returns the ops in the body of `b` that compute the same as an op in the
/// body of `a`, with that op. Index i of `b` is index places[i] of `a`.
llvm::DenseMap<mlir::Operation *, mlir::Operation *>
commonOps(ComputeOp a, ComputeOp b, llvm::ArrayRef<unsigned> places);

/// Returns whether both equations have the same bounds and conditions at
/// `places`, and a costly function in common there.
bool evaluateTogether(ComputeOp a, ComputeOp b,
                      llvm::ArrayRef<unsigned> places);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_COMMONFUNCTIONS_H
