//===- RoundedFactors.h - sums of products of bf16 numbers ------*- C++ -*-===//
//
// `attn.sums = array<i64: 1>` of an equation with `attn.precision = bf16` says
// that it is a fused chain whose factors are rounded:
//
// * Both factors of each product are rounded to bf16, to the nearest number, of
//   two the even one. A factor below 2^-126 is 0.
// * Each product is added to the sum so far with one rounding to 24 digits, to
//   the nearest as well. A sum that is below 2^-126 afterwards is 0.
// * There is no negative zero.
//
// The instructions AVX512_BF16 add two products of a pair in this way. Of a
// module the attribute says that products with weights do it: which ones,
// passes/analysis/Orders.h decides.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_ROUNDEDFACTORS_H
#define FOVEA_DIALECT_ROUNDEDFACTORS_H

#include "mlir/IR/Operation.h"

namespace fovea::attn {

/// Whether an equation is such a sum.
bool roundsFactors(mlir::Operation *op);
/// Whether the products with weights in its module are.
bool allowsRoundedFactors(mlir::Operation *op);
void setRoundsFactors(mlir::Operation *op);
void allowRoundedFactors(mlir::Operation *module);
/// The equation is another sum from here on.
void removeRoundedFactors(mlir::Operation *op);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ROUNDEDFACTORS_H
