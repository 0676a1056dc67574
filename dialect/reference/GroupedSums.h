//===- GroupedSums.h - sums of products in groups --------------*- C++ -*-===//
//
// How compiled code adds groups (dialect/GroupedSums.h), written a second time.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_GROUPEDSUMS_H
#define FOVEA_DIALECT_REFERENCE_GROUPEDSUMS_H

#include "dialect/GroupedSums.h"
#include "dialect/reference/Orders.h"

namespace fovea::reference {

/// The sum of products. `place` of a term is its number in the sum, where terms
/// that a condition excludes count as well. Places ascend.
Traced sumInGroups(const attn::GroupedSums &sums, llvm::ArrayRef<Term> terms,
                   Arithmetic in = Arithmetic(nullptr));

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_GROUPEDSUMS_H
