//===- Quantise.h - weights in fewer bits -----------------------*- C++ -*-===//
//
// The weights of a model with `--precision int8`: whole numbers from -127 to
// 127, and a scale for each column. Those with `--precision bf16` on a CPU:
// rounded to bf16. The compiler, its interpreter and programs compute them by
// this function, from the same f32 weights.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_QUANTISE_H
#define FOVEA_RUNTIME_DATA_QUANTISE_H

#include "runtime/data/SafeTensors.h"

namespace fovea::runtime {

/// The names of the numbers and scales of parameter `path`, whose products sum
/// along `axis`: `w:int8.1`, `w:scale.1`. No other parameter has a colon.
std::string int8Name(const std::string &path, size_t axis);
std::string scaleName(const std::string &path, size_t axis);
/// The name of the rounded parameter: `w:bf16`.
std::string bf16Name(const std::string &path);

/// A parameter whose name is one of these.
struct QuantisedName {
  enum Part { Numbers, Scales, Rounded };
  std::string path;
  Part part = Numbers;
  size_t axis = 0; // not of rounded ones
};
/// Returns nothing for any other name.
bool readQuantisedName(const std::string &name, QuantisedName &result);

/// Adds the arrays of a name to `parts`: the rounded weights, or both the
/// numbers and the scales along its axis. In f32:
///
///     scale  = max |w| / 127, over the axis
///     number = w / scale, rounded to the nearest whole number, ties to even
///
/// and both are 0 where all are 0. Weights that the format cannot represent are
/// an error: in int8 weights that are not finite, in bf16 finite weights that
/// would become infinite.
Status quantise(const QuantisedName &name, const Tensor &weights,
                std::map<std::string, Tensor> &parts);

/// Adds the numbers, scales and rounded weights that `names` has to a file of
/// weights, and removes the weights that `names` does not have.
Status quantise(TensorFile &file, const std::vector<std::string> &names);

/// Turns such parameters of a file into reals of this type, which programs
/// read.
void widenNumbers(TensorFile &file, DType type);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_QUANTISE_H
