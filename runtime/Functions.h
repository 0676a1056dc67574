//===- Functions.h - functions with the same bits everywhere ----*- C++ -*-===//
//
// The exponential function, logarithm, power, sine and cosine of the C library
// differ in their last digits from one version to the next. These are sums and
// products in a fixed order instead: all machines draw, initialise and update
// the same. FunctionsTest.cpp checks the errors that are stated here, in units
// in the last place (ulp) of the result.
//
// Compiled models have functions of their own (codegen/math), in vectors.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_FUNCTIONS_H
#define FOVEA_RUNTIME_FUNCTIONS_H

#include <vector>

namespace fovea::runtime {

/// e^x, within 0.7 ulp; within 1 ulp where the result is subnormal.
double expOf(double x);

/// log x, within 0.6 ulp.
double logOf(double x);

/// log(1 + x), within 1 ulp.
double log1pOf(double x);

/// x^y, within 1 ulp where the result is normal; exact if the result is a
/// number of 40 bits.
double powOf(double x, double y);

/// sin(2 pi x) and cos(2 pi x), within 1 ulp, for |x| below 2^50.
double sinOfTurns(double x);
double cosOfTurns(double x);

/// The sum of numbers, rounded once: it does not depend on their order. Scores
/// and searches add up log p so.
double exactSum(const std::vector<double> &numbers);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_FUNCTIONS_H
