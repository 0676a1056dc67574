//===- ExpandMath.h - functions become polynomials ------------*- C++ -*-===//
//
// A processor has no instruction for exp. Before a kernel module is lowered to
// LLVM, every function that would become a call into libm is rewritten into
// arithmetic without branches: additions, products, fused multiply-adds,
// comparisons and selections, the same for a scalar and for each lane of a
// vector. So a tail that is computed one by one, or under a mask, has the bits
// of the rest, and no result depends on a library of the machine.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_EXPANDMATH_H
#define FOVEA_CODEGEN_CPU_EXPANDMATH_H

#include "mlir/IR/BuiltinOps.h"

namespace fovea::codegen {

/// Rewrites each of the following ops below `root` whose type is f32, f64 or a
/// vector of one of them:
///
///   math.exp exp2 expm1 log log2 log10 log1p powf fpowi cbrt rsqrt
///   math.tanh sinh cosh erf erfc sin cos tan asin acos atan atan2
///
/// What has an instruction stays (sqrt, absf, fma, floor, ceil, round, ..), and
/// so does any other type.
///
/// Errors, in units in the last place of f32 and relative for f64 (measured
/// by test/unit/ExpandMathTest.cpp):
/// - f32: exp, exp2, log, log2, log10 2; log1p, expm1, rsqrt 3; tanh, erf 4;
///   all others 1: they are computed in f64.
/// - f64: 2e-15; pow, cbrt, erfc, sinh and cosh 1e-14; tan 4e-15.
///
/// Zeros, infinities and NaNs give what IEEE 754 recommends, with the sign of
/// zero. But:
/// - exp of f32 is 0 where the result is below 2^-125.5 (about 1.7e-38), and
///   exp2 where it is below 2^-125.5. In f64 small results are denormal
///   numbers, with their precision.
/// - sin, cos and tan are NaN where |x| > 2^48, in f32 too: no reduction of
///   larger arguments is attempted.
void expandMath(mlir::Operation *root);

/// Makes `fovea-expand-math`, the same as a pass over a module, known to
/// command lines.
void registerExpandMathPass();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_EXPANDMATH_H
