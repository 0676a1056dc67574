//===- PaperDevice.cpp - a device that runs nothing -----------------------===//

#include "app/profile/PaperDevice.h"

#include <algorithm>
#include <sys/mman.h>

using namespace fovea::cli;

/// Untouched pages take no memory.
void *PaperDevice::allocate(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  std::lock_guard lock(mutex);
  sizes[memory] = bytes;
  return memory;
}

void PaperDevice::free(void *memory) {
  std::lock_guard lock(mutex);
  auto own = sizes.find(memory);
  munmap(memory, own->second);
  sizes.erase(own);
}

void PaperDevice::note(const std::string &name,
                       const runtime::KernelLaunch &launch) {
  if (launch.units <= 0)
    return;
  Launches &own = all[name];
  ++own.count;
  own.blocks += (launch.units + launch.unitsAtOnce - 1) / launch.unitsAtOnce;
  own.units += launch.units;
  own.inLoops += isInLoop;
  own.threads = launch.threads;
  own.sharedBytes = std::max(own.sharedBytes, launch.sharedBytes);
}

void PaperDevice::launch(const runtime::KernelLaunch &launch) {
  std::lock_guard lock(mutex);
  note(launch.name, launch);
  code.insert(static_cast<const char *>(launch.image));
}

bool PaperDevice::launchLoop(const runtime::KernelLaunch &launch,
                             int64_t barriers) {
  std::lock_guard lock(mutex);
  Launches &own = all[launch.name];
  ++own.count;
  own.threads = launch.threads;
  own.barriers += barriers * launch.units;
  own.sharedBytes = std::max(own.sharedBytes, launch.sharedBytes);
  code.insert(static_cast<const char *>(launch.image));
  isInLoop = true;
  return false;
}

/// The program that launches it has registered it.
bool PaperDevice::launchOwn(const std::string &name,
                            runtime::KernelLaunch launch) {
  std::lock_guard lock(mutex);
  note(name, launch);
  return true;
}
