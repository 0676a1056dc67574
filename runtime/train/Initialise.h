//===- Initialise.h - what the parameters begin with ----------------------===//
//
// A number depends only on the seed, the path of its parameter and its
// position in it. So adding a parameter to a spec does not change the
// others.
//
// The default matches PyTorch's modules. Weights and biases are uniform in
// +-1/sqrt(f). Here f is the number of values that one output sums over; for a
// recurrent cell, its size. An embedding is standard normal; a layer norm has
// gain 1 and bias 0.
//
// Schemes: `uniform(a)` in +-a and `normal(sd)` for every parameter; `glorot`
// (Glorot and Bengio, 2010: +-sqrt(6 / (f_in + f_out))), `glorot_normal`, `he`
// (He et al., 2015: normal with sqrt(2 / f_in)) for what has two axes or more,
// and zeros for biases; `zeros`. A layer norm begins as without a scheme.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_INITIALISE_H
#define FOVEA_RUNTIME_TRAIN_INITIALISE_H

#include "runtime/data/SafeTensors.h"

namespace fovea::runtime {

struct InitialParameter {
  std::string path;
  std::vector<int64_t> shape;
  /// The def that declares it and its name in that def, `linear:weight`; `:v`
  /// outside of defs; `= 0.5`: all of its values; `as cell.weight`: the numbers
  /// of another parameter, which has no such role.
  std::string role;
};

/// Fills `file` with a tensor of `type` (F32 or F64) for each parameter. An
/// unknown scheme is an error.
Status initialise(const std::vector<InitialParameter> &parameters,
                  const std::string &scheme, uint64_t seed, DType type,
                  TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_INITIALISE_H
