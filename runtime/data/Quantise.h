//===- Quantise.h - weights as whole numbers of 8 bits --------*- C++ -*-===//
//
// The weights of a model with `--precision int8`: whole numbers from -127 to
// 127, and a scale for each column. The compiler, its interpreter and programs
// compute them by this function, from the same f32 weights.
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

/// A parameter whose name is one of these.
struct QuantisedName {
  std::string path;
  size_t axis = 0;
  bool isScale = false;
};
/// Returns nothing for any other name.
bool readQuantisedName(const std::string &name, QuantisedName &result);

/// Computes `numbers` and `scales` of weights along `axis`. In f32:
///
///     scale  = max |w| / 127, over the axis
///     number = w / scale, rounded to the nearest whole number, ties to even
///
/// and both are 0 where all are 0. Weights that are not finite are an error,
/// which calls them `path`.
Status quantise(const std::string &path, const Tensor &weights, size_t axis,
                Tensor &numbers, Tensor &scales);

/// Adds the numbers and scales that `names` has to a file of weights, and
/// removes the weights that `names` does not have.
Status quantise(TensorFile &file, const std::vector<std::string> &names);

/// Turns the numbers of a file into reals of this type, which programs read.
void widenNumbers(TensorFile &file, DType type);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_QUANTISE_H
