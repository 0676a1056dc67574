//===- TensorLayout.h - where tensors lie in a file -----------*- C++ -*-===//
//
// Shared by the code that makes a tensor file in memory and the code that
// writes one.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TENSORLAYOUT_H
#define FOVEA_RUNTIME_DATA_TENSORLAYOUT_H

#include "runtime/data/SafeTensors.h"

namespace fovea::runtime {

/// The bytes before the tensors of a file, and the order of the tensors.
struct TensorLayout {
  using Order = std::vector<const std::pair<const std::string, Tensor> *>;
  std::string beginning;
  Order order;
};

/// The layout of a file, which must outlive it.
TensorLayout layoutOf(const TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TENSORLAYOUT_H
