//===- TensorLayout.h - where tensors lie in a file -----------*- C++ -*-===//
//
// Shared by what makes a file of tensors in memory and what writes one.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TENSORLAYOUT_H
#define FOVEA_RUNTIME_DATA_TENSORLAYOUT_H

#include "runtime/data/SafeTensors.h"

namespace fovea::runtime {

/// What stands before the tensors of a file, and the order of their bytes.
struct TensorLayout {
  using Order = std::vector<const std::pair<const std::string, Tensor> *>;
  std::string beginning;
  Order order;
};

/// The layout of a file, which outlives it.
TensorLayout layoutOf(const TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TENSORLAYOUT_H
