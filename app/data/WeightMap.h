//===- WeightMap.h - weights of another program, by name ------------------===//
//
// A map relates each parameter of a spec to the tensors of a file, in both
// directions (app/data/MapLines.h). Shapes are checked, and nothing is guessed.
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

/// Sets `file` to the tensors that `--map` names, from the parameters in
/// `weights`: what takeForeignWeights() would read them from. Returns false on
/// a mistake (reported).
bool giveForeignWeights(Session &session, const Arguments &arguments,
                        const Model &model, const runtime::TensorFile &weights,
                        runtime::TensorFile &file);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_WEIGHTMAP_H
