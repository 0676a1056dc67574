//===- Single.h - the functions of single precision -----------*- C++ -*-===//
//
// The formulas of docs/CODEGEN.md ("Functions"), written a second time: the
// interpreter has the bits of compiled code without any code of the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_SINGLE_H
#define FOVEA_DIALECT_REFERENCE_SINGLE_H

#include "dialect/reference/Scalars.h"

namespace fovea::reference {

/// The nearest number of f32, as a double.
inline double toSingle(double value) { return static_cast<float>(value); }

/// IEEE maximum and minimum: a NaN stays, and -0 is below 0.
float maximumOf(float a, float b);
float minimumOf(float a, float b);

float expOf(float x);
float logOf(float x);

/// What f32 computes in place of an op, where it is not the result of f64,
/// rounded; null where it is.
ScalarFunction findSingle(mlir::Operation *op);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_SINGLE_H
