//===- Distributions.h - what a choice draws ------------------------------===//

#ifndef FOVEA_DIALECT_DISTRIBUTIONS_H
#define FOVEA_DIALECT_DISTRIBUTIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The number of trailing axes that belong to one value: 1 for the pairs of
/// bivariate distributions.
unsigned numValueAxes(ChoiceOp choice);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_DISTRIBUTIONS_H
