//===- Functions.h - the formula of each function -------------*- C++ -*-===//
//
// The replacements of ExpandMath.cpp. Each function takes reals of the
// builder's type; those named f64 need a builder for f64.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_MATH_FUNCTIONS_H
#define FOVEA_CODEGEN_MATH_FUNCTIONS_H

#include "codegen/math/MathBuilder.h"

namespace fovea::codegen {

// Exponentials.cpp
Real emitExp(MathBuilder &b, Real x);
Real emitExp2(MathBuilder &b, Real x);
Real emitExpm1(MathBuilder &b, Real x);
Real emitTanh(MathBuilder &b, Real x);
Real emitSinh(MathBuilder &b, Real x); // f64
Real emitCosh(MathBuilder &b, Real x); // f64
Real emitErf(MathBuilder &b, Real x);
Real emitErfc(MathBuilder &b, Real x); // f64
/// exp(x + correction) in f64, for a correction below 2^-20.
Real emitExpOfSum(MathBuilder &b, Real x, Real correction);

// Logarithms.cpp
Real emitLog(MathBuilder &b, Real x);
Real emitLog2(MathBuilder &b, Real x);
Real emitLog10(MathBuilder &b, Real x);
Real emitLog1p(MathBuilder &b, Real x);
Real emitPow(MathBuilder &b, Real x, Real y); // f64
Real emitCbrt(MathBuilder &b, Real x);        // f64

// Circular.cpp, all in f64
Real emitSin(MathBuilder &b, Real x);
Real emitCos(MathBuilder &b, Real x);
Real emitTan(MathBuilder &b, Real x);
Real emitAsin(MathBuilder &b, Real x);
Real emitAcos(MathBuilder &b, Real x);
Real emitAtan(MathBuilder &b, Real x);
Real emitAtan2(MathBuilder &b, Real y, Real x);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_MATH_FUNCTIONS_H
