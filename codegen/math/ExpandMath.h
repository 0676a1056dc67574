//===- ExpandMath.h - functions become polynomials ------------*- C++ -*-===//
//
// Processors have no instruction for exp. Before a kernel module is lowered to
// LLVM, every function that would become a libm call is rewritten into
// branchless arithmetic: additions, products, fused multiply-adds, comparisons
// and selections. Scalars and the lanes of vectors use the same operations. So
// a tail that is computed one by one, or under a mask, has the bits of the
// rest. No result depends on a library or on the width of vectors: AVX2 and
// AVX-512 agree.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_MATH_EXPANDMATH_H
#define FOVEA_CODEGEN_MATH_EXPANDMATH_H

#include "mlir/IR/BuiltinOps.h"

namespace fovea::codegen {

/// Rewrites each of the following ops below `root` whose type is f32, f64 or a
/// vector of one of them:
///
///   math.exp exp2 expm1 log log2 log10 log1p powf fpowi cbrt rsqrt
///   math.tanh sinh cosh erf erfc sin cos tan asin acos atan atan2
///
/// Functions with an instruction stay (sqrt, absf, fma, floor, ceil, round,
/// ..), and so does any other type.
///
/// Errors that test/unit/ExpandMathTest.cpp allows:
/// - f32: 2 units in the last place; tanh and erf 4. What is rare is computed
///   in f64 and rounded once: sinh, cosh, erfc, log10, powf, cbrt and all
///   circular functions.
/// - f64: a relative error of 1e-15; powf 5e-15.
///
/// Zeros, infinities and NaNs give what IEEE 754 recommends, with the sign of
/// zero. But:
/// - exp and exp2 of f32 are 0 where the result is below 2^-125.5 (1.7e-38).
///   In f64 small results are denormal numbers, with their precision.
/// - sin, cos and tan are NaN where |x| > 2^48, in f32 too: no reduction of
///   larger arguments is attempted.
void expandMath(mlir::Operation *root);

/// Registers `fovea-expand-math`, the same as a pass over a module, for command
/// lines.
void registerExpandMathPass();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_MATH_EXPANDMATH_H
