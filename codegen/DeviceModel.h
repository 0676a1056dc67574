//===- DeviceModel.h - what a device can do at most -------------*- C++ -*-===//
//
// Plain data for lower bounds of kernel times, computed without a run.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_DEVICEMODEL_H
#define FOVEA_CODEGEN_DEVICEMODEL_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace fovea::codegen {

/// A device of an architecture, from its data sheet (docs/GPU_CODE.md has the
/// sources).
struct DeviceFigures {
  llvm::StringLiteral device;
  int64_t processors;
  /// The resources that the blocks on a processor share.
  int64_t sharedBytes, registers = 65536, threads = 2048, blocks = 32;
  /// Per second: bytes of memory, of the cache shared by all processors, and
  /// between that cache and one processor.
  double memoryBytes, cacheBytes, processorBytes;
  /// Operations per second: in f32, in f64, of bf16 products with a warp's
  /// instruction, and with a warp group's instruction.
  double singleFlops, doubleFlops, roundedFlops, groupFlops;
};

/// What a warp issues for one operation of a product, in the loop that
/// multiplies; a multiply-add is two operations. `functions` are those
/// instructions that the units for exponentials and reciprocals execute.
struct ProductCost {
  double instructions = 0, functions = 0;
};

/// The processor resources of a kernel's block.
struct KernelNeeds {
  /// Per thread, if an assembler is available to report it.
  std::optional<int64_t> registers;
  int64_t spilledBytes = 0;
  int64_t sharedBytes = 0;
  /// For a kernel that multiplies, if a disassembler is available as well.
  std::optional<ProductCost> ofProducts;
};

/// By the kernel names on the device.
using NeedsOfKernels = llvm::StringMap<KernelNeeds>;

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_DEVICEMODEL_H
