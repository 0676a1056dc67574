//===- WeightMap.h - weights of another program, by name ------------------===//
//
// A map defines each parameter of a spec in terms of the tensors of a file:
// lines `PARAMETER = TENSOR`, with functions to transpose, join and cut
// (docs/WEIGHTS.md). Shapes are checked, and nothing is guessed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_WEIGHTMAP_H
#define FOVEA_APP_DATA_WEIGHTMAP_H

#include "app/data/Inputs.h"

namespace fovea::cli {

/// Sets `weights`, which has all parameters of the model, to the values of
/// `--from` and `--map`; without a map, to the tensors of the same names.
/// Returns false on a mismatch (reported).
bool takeForeignWeights(Session &session, const Arguments &arguments,
                        const Model &model, runtime::TensorFile &weights);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_WEIGHTMAP_H
