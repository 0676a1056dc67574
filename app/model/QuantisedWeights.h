//===- QuantisedWeights.h - the parameters of models in int8 --------------===//
//
// Programs with `--precision int8` read whole numbers and scales in the place
// of weights, those in bf16 and int4 rounded ones (runtime/data/Quantise.h).
// Here they are added to the weights.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MODEL_QUANTISEDWEIGHTS_H
#define FOVEA_APP_MODEL_QUANTISEDWEIGHTS_H

#include "dialect/reference/Array.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program.h"
#include "runtime/memory/Workspace.h"

namespace fovea::cli {

/// Adds what the systems or programs of a module read.
runtime::Status addQuantised(mlir::ModuleOp module,
                             reference::Arrays &parameters);
/// Adds what compiled programs read.
runtime::Status addQuantised(const std::vector<runtime::Program> &programs,
                             runtime::ParameterValues &parameters);

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_QUANTISEDWEIGHTS_H
