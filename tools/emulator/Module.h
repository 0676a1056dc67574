//===- Module.h - code of a device as code of this process ------*- C++ -*-===//
//
// Takes the LLVM IR that becomes PTX and makes code for this CPU of it:
// registers of the GPU are read, barriers and shuffles are called, and every
// access of memory is asked about (Block.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_MODULE_H
#define FOVEA_TOOLS_EMULATOR_MODULE_H

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <map>

namespace fovea::emulator {

struct Kernel {
  std::string name;
  void (*run)(const int64_t *list, int64_t units) = nullptr;
  int64_t slots = 0;
  bool waits = false;
  /// Of the memory of a block that a launch gives its size.
  int64_t mostSharedBytes = 48 << 10;
};

class DeviceModule {
public:
  /// `image`: bitcode with a wrapper, which says how long it is.
  static llvm::Expected<std::unique_ptr<DeviceModule>> load(const void *image);
  Kernel *find(const std::string &name);

  /// What the threads of a block share besides what the code says, at most,
  /// and in the next launch.
  static constexpr int64_t mostSharedBytes = 227 << 10;
  static void setSharedBytes(int64_t bytes);

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, Kernel> kernels;
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_MODULE_H
