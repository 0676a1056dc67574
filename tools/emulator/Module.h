//===- Module.h - the kernels of a module -----------------------*- C++ -*-===//

#ifndef FOVEA_TOOLS_EMULATOR_MODULE_H
#define FOVEA_TOOLS_EMULATOR_MODULE_H

#include "tools/emulator/ptx/Code.h"

namespace fovea::emulator {

struct Kernel {
  const ptx::Entry *entry = nullptr;
  /// For a block's memory with the size from the launch.
  int64_t mostSharedBytes = 48 << 10;

  /// Numbers in its list.
  size_t slots() const { return entry->listBytes / sizeof(int64_t); }
};

class DeviceModule {
public:
  /// Decodes the text of PTX, which ends in a zero. Null: `wrong` says why.
  static std::unique_ptr<DeviceModule> load(const char *text,
                                            std::string &wrong);
  /// Null: it has none of this name.
  Kernel *find(const std::string &name);

  /// The maximum dynamic shared memory of a block.
  static constexpr int64_t mostSharedBytes = 227 << 10;

private:
  ptx::Code code;
  std::map<std::string, Kernel> kernels;
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_MODULE_H
