//===- Pairs.h - factors in bf16, two terms in four bytes -------*- C++ -*-===//
//
// Products that round their factors (dialect/RoundedFactors.h) have
// two terms in one i32: term 2p of row or column p in its upper half, term
// 2p + 1 in its lower half. A last term alone has a zero beside it. One
// instruction of x86 adds the product of the upper halves first, and the lower
// ones after it: terms are added in ascending order.
//
// Everywhere else a pair takes the place of an element: in staged A, in the
// panels of B, and in the numbers of terms of kernels and blocks.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PRODUCTS_PAIRS_H
#define FOVEA_CODEGEN_CPU_PRODUCTS_PAIRS_H

#include "codegen/cpu/products/Gemm.h"
#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

/// How many pairs so many terms are.
mlir::Value pairsOf(KernelBuilder &builder, mlir::Value terms);

/// The sums of a vector, or a number, with both products of a pair.
mlir::Value addPair(KernelBuilder &builder, const GemmTile &tile,
                    mlir::Value left, mlir::Value right, mlir::Value sum);

/// Copies consecutive terms as pairs. Up to a vector after the last pair may be
/// written.
void copyPairs(KernelBuilder &builder, const GemmTile &tile, mlir::Value input,
               mlir::Value output, mlir::Value terms);

/// Copies A[m, k] to `out`, row after row with `stagedStride` pairs between
/// them. `place`: a, ars, acs.
void stagePairs(KernelBuilder &builder, const GemmTile &tile,
                mlir::ValueRange place, mlir::Value m, mlir::Value k,
                mlir::Value out);

/// Adds `@fovea_pack_f32_pairs` and `@fovea_pack_parts_f32_pairs`.
void emitPackPairs(KernelBuilder &builder, const GemmTile &tile);

/// Adds `@fovea_gemm_runs_f32_pairs` and `@fovea_gemm_columns_f32_pairs`.
void emitPairGather(KernelBuilder &builder, const GemmTile &tile);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PRODUCTS_PAIRS_H
