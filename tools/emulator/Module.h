//===- Module.h - code of a device as code of this process ------*- C++ -*-===//
//
// Compiles the LLVM IR from which PTX is made for this CPU: GPU registers
// become reads, barriers and shuffles become calls, and every memory access is
// checked (Block.h). PTX is decoded instead, and interpreted (ptx/Code.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_MODULE_H
#define FOVEA_TOOLS_EMULATOR_MODULE_H

#include "tools/emulator/ptx/Code.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <map>

namespace fovea::emulator {

struct Kernel {
  std::string name;
  void (*run)(const int64_t *list, int64_t units) = nullptr;
  /// Of PTX, in place of `run`.
  const ptx::Entry *entry = nullptr;
  int64_t slots = 0;
  bool waits = false;
  /// For a block's memory with the size from the launch.
  int64_t mostSharedBytes = 48 << 10;
};

class DeviceModule {
public:
  /// `image`: bitcode with a wrapper, which says how long it is, or the text of
  /// PTX, which ends in a zero.
  static llvm::Expected<std::unique_ptr<DeviceModule>> load(const void *image);
  Kernel *find(const std::string &name);

  /// The maximum dynamic shared memory of a block, and the dynamic shared
  /// memory of the next launch.
  static constexpr int64_t mostSharedBytes = 227 << 10;
  static void setSharedBytes(int64_t bytes);

private:
  llvm::Error loadText(std::string text);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  ptx::Code code;
  std::map<std::string, Kernel> kernels;
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_MODULE_H
