//===- Compare.h - do two arrays agree? -----------------------------------===//
//
// A NaN agrees with nothing, not even with a NaN: a comparison by a maximum of
// differences would miss it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_COMPARE_H
#define FOVEA_DIALECT_REFERENCE_COMPARE_H

#include "dialect/reference/Array.h"

namespace fovea::reference {

/// The largest |a - b| / max(1, |a|, |b|) of the elements. Infinity if the
/// shapes differ or there is a NaN anywhere; two equal infinities agree.
double maxDifference(const Array &a, const Array &b);

/// Whether the arrays have one shape, no NaN, and differ by at most
/// `tolerance`. A tolerance that is NaN or negative holds for nothing.
bool agree(const Array &a, const Array &b, double tolerance);

/// The same for every name; both have the same names.
bool agree(const Arrays &a, const Arrays &b, double tolerance);

/// Describes the first disagreement; empty if there is none.
std::string explainDifference(const Arrays &a, const Arrays &b,
                              double tolerance);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_COMPARE_H
