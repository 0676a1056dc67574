//===- TensorLayout.h - where tensors lie in a file -----------*- C++ -*-===//
//
// Shared by the code that makes or reads a tensor file in memory and the code
// that writes or reads one on a disk.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TENSORLAYOUT_H
#define FOVEA_RUNTIME_DATA_TENSORLAYOUT_H

#include "runtime/data/SafeTensors.h"

#include <functional>

namespace fovea::runtime {

/// The bytes before the tensors of a file, and the order of the tensors.
struct TensorLayout {
  using Order = std::vector<const std::pair<const std::string, Tensor> *>;
  std::string beginning;
  Order order;
};

/// The layout of a file, which must outlive it.
TensorLayout layoutOf(const TensorFile &file);

/// The bytes of a file, which are in memory or still on a disk.
struct TensorSource {
  uint64_t size = 0;
  /// Copies `count` bytes from `offset` on. False, with `errno` (0: the file is
  /// shorter by now), if that fails.
  std::function<bool(uint64_t offset, void *to, uint64_t count)> read;
};

/// Reads a file tensor by tensor; messages use `name` for it.
Status readTensors(const TensorSource &source, const std::string &name,
                   TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TENSORLAYOUT_H
