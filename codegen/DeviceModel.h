//===- DeviceModel.h - what a device can do at most -------------*- C++ -*-===//
//
// Plain data, for who says ahead of any run how long kernels take at least.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_DEVICEMODEL_H
#define FOVEA_CODEGEN_DEVICEMODEL_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace fovea::codegen {

/// A device of an architecture, by its data sheet (docs/GPU.md says which).
struct DeviceFigures {
  llvm::StringLiteral device;
  int64_t processors;
  /// What blocks of threads divide among them on a processor.
  int64_t sharedBytes, registers = 65536, threads = 2048, blocks = 32;
  /// A second: of memory, of the cache that all processors share, and between
  /// that and one processor.
  double memoryBytes, cacheBytes, processorBytes;
  /// Operations a second: of f32, of f64, and of products of factors in bf16 by
  /// the instruction of a warp, and that of a group of four.
  double singleFlops, doubleFlops, roundedFlops, groupFlops;
};

/// What a block of a kernel takes of a processor.
struct KernelNeeds {
  /// Of a thread, as far as there is an assembler to say so.
  std::optional<int64_t> registers;
  int64_t spilledBytes = 0;
  int64_t sharedBytes = 0;
};

/// By the names that the device knows.
using NeedsOfKernels = llvm::StringMap<KernelNeeds>;

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_DEVICEMODEL_H
