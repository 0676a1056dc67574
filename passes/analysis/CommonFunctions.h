//===- CommonFunctions.h - what two equations both evaluate ---------------===//
//
// Finds functions, as tanh, that two equations evaluate at the same places of
// the same arrays, whatever their indices are called and in whatever order
// these stand. Only the scalars of a body itself are compared: what stands in
// a branch is common to nobody.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_COMMONFUNCTIONS_H
#define FOVEA_PASSES_ANALYSIS_COMMONFUNCTIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// For each index of an equation the index of another one that it stands for.
using IndexMap = llvm::SmallVector<unsigned>;

/// Whether an op of a body takes many times as long as an addition.
bool isCostly(mlir::Operation *op);

/// Whether the body of `op` evaluates a costly function.
bool hasCostlyFunction(ComputeOp op);

/// The ways in which the indices of `b` can stand for those of `a`, one for
/// one and with the same bounds, so that a costly function of all indices has
/// the same arguments in both. Bounded work: some may be missed in bodies of
/// hundreds of terms.
llvm::SmallVector<IndexMap> commonPlaces(ComputeOp a, ComputeOp b);

/// The ops of the body of `b` that give what an op of the body of `a` gives,
/// and that op, where index i of `b` is index places[i] of `a`.
llvm::DenseMap<mlir::Operation *, mlir::Operation *>
commonOps(ComputeOp a, ComputeOp b, llvm::ArrayRef<unsigned> places);

/// Whether both equations have the same bounds and conditions at `places`, and
/// evaluate a costly function there in common.
bool evaluateTogether(ComputeOp a, ComputeOp b,
                      llvm::ArrayRef<unsigned> places);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_COMMONFUNCTIONS_H
