//===- WeightMap.h - weights of another program, by name ------------------===//
//
// A map says for each parameter of a spec which tensors of a file it is made
// of: lines `PARAMETER = TENSOR`, where functions transpose, join and cut
// (docs/WEIGHTS.md). Shapes are compared, and nothing is guessed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_WEIGHTMAP_H
#define FOVEA_DRIVER_DATA_WEIGHTMAP_H

#include "driver/data/Inputs.h"

namespace fovea::cli {

/// Gives the parameters of `weights`, which has all of the model, the values
/// that `--from` and `--map` say; without a map, those of the same names.
/// False when something does not fit (reported).
bool takeForeignWeights(Session &session, const Arguments &arguments,
                        const Model &model, runtime::TensorFile &weights);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_WEIGHTMAP_H
