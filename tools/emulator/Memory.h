//===- Memory.h - what kernels read and write -------------------*- C++ -*-===//

#ifndef FOVEA_TOOLS_EMULATOR_MEMORY_H
#define FOVEA_TOOLS_EMULATOR_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>

namespace fovea::emulator {

/// The global memory of the device: nothing else exists for a kernel.
class Memory {
public:
  /// Filled with NaNs, with a guard zone around it.
  void *allocate(size_t bytes);
  /// The same at addresses that the host cannot access.
  void *allocateApart(size_t bytes);
  bool free(void *memory);
  /// Memory that always exists: variables of kernels.
  void add(void *memory, size_t bytes);

  /// Returns whether all of it exists.
  bool holds(const char *address, size_t bytes);
  /// The content of an address that is held, for the emulator.
  char *contentOf(uint64_t address);

private:
  struct Region {
    size_t bytes = 0;
    bool isOwn = false;
    /// Of memory apart: where its content is; null: there.
    char *content = nullptr;
  };
  using Regions = std::map<const char *, Region>;

  Regions::iterator find(const char *address);
  Regions regions;
  Regions::iterator recent = regions.end();
};

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_MEMORY_H
