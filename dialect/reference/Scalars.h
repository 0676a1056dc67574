//===- Scalars.h - scalar ops as functions --------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_SCALARS_H
#define FOVEA_DIALECT_REFERENCE_SCALARS_H

#include "mlir/IR/Operation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fovea::reference {

/// A scalar during evaluation: f64, or a whole number (i64, index, or i1 as 0
/// and 1).
union Slot {
  double real;
  int64_t whole;
};

/// Computes an op of at most three operands. An undefined result (a division by
/// zero) sets `fault` to a sentence.
using ScalarFunction = Slot (*)(Slot, Slot, Slot, const char *&fault);

/// The meaning of an op of arith, math or attn; null if it has none here.
ScalarFunction findScalar(mlir::Operation *op);

/// log(1 + exp(x)), for any x.
inline double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// The nearest f32, of all numbers with 8 binary digits the nearest one, of two
/// the even one: a number of bf16.
double roundedToBF16(double value);

/// Returns whether values of `type` are supported: f64, i64, i1 and index.
bool isScalar(mlir::Type type);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_SCALARS_H
