//===- Device.h - the GPU of this process -----------------------*- C++ -*-===//
//
// Opens CUDA's driver when a device is requested; nothing links to it. The
// arrays of a program are in memory of the device, which the host cannot
// access: copies are launches. Weights, gradients and the states of a search
// are in memory that both share (managed memory).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DEVICE_DEVICE_H
#define FOVEA_RUNTIME_DEVICE_DEVICE_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace fovea::runtime {

/// The inputs of a launch.
struct KernelLaunch {
  /// The code that contains the kernel, loaded once, and the kernel's name in
  /// it.
  const void *image = nullptr;
  const char *name = nullptr;
  /// The list passed by value, its size, and the work
  /// units.
  const int64_t *list = nullptr;
  int64_t slots = 0, units = 0;
  /// The threads of a block, and how many units it processes at a time.
  int64_t threads = 1, unitsAtOnce = 1;
  /// Dynamic shared memory of a block, in addition to the code's static amount.
  int64_t sharedBytes = 0;
  /// The cluster size. Each block of a cluster has a processor to itself and
  /// processes further units in turn. 0: no clusters, and a processor may hold
  /// any number of blocks.
  int64_t clusterBlocks = 0;
};

class Device {
public:
  virtual ~Device() = default;

  /// Opens the first device that the process may use, once. Fails with an
  /// environment failure if there is no driver or no device.
  static Status open();
  /// Replaces the device until the process ends.
  static void use(std::unique_ptr<Device> device);
  /// Returns the open device, or null.
  static Device *current();

  virtual const std::string &name() const = 0;
  /// The compute capability.
  virtual int major() const = 0;
  virtual int minor() const = 0;
  /// Whether the driver is the emulator (docs/GPU_CODE.md).
  bool isEmulator() const { return name() == "emulator"; }
  virtual int64_t totalBytes() const = 0;

  /// Allocates memory shared by host and device; null if there is no more.
  virtual void *allocate(size_t bytes) = 0;
  virtual void free(void *memory) = 0;
  /// The same in the host's memory, which the device accesses in place: for a
  /// few numbers that one side writes and the other one reads.
  virtual void *allocatePinned(size_t bytes) { return allocate(bytes); }
  virtual void freePinned(void *memory) { free(memory); }

  /// Whether the host cannot access what `allocateOwn` gives.
  virtual bool hasOwnMemory() const { return false; }
  /// From now on it can, as in shared memory: what watches each launch reads in
  /// place.
  virtual void shareMemory() {}
  /// Allocates memory of the device; null if there is no more.
  virtual void *allocateOwn(size_t bytes) { return allocate(bytes); }
  /// Adds a copy to the launches, between memory of the device and pinned
  /// memory; one of both is the device's.
  virtual void copy(void *to, const void *from, size_t bytes, bool toHost);
  /// Copies at once, after all launches. The host's side is any memory.
  virtual void read(void *to, const void *from, size_t bytes);
  virtual void write(void *to, const void *from, size_t bytes);
  /// Adds a copy to the host at the end of the program that this thread runs
  /// next.
  static void readAtEnd(void *to, const void *from, size_t bytes);

  /// Launches are ordered; a thread's launches are collected until it submits
  /// them or waits. A failure ends the process: the device's state is lost
  /// then.
  virtual void launch(const KernelLaunch &launch) = 0;
  /// Launches all steps of a loop at once, with as many blocks as can be
  /// resident together. `units` counts the steps. In each step the blocks
  /// synchronise `barriers` times. Returns false if the loop must be launched
  /// kernel by kernel.
  virtual bool launchLoop(const KernelLaunch &launch, int64_t barriers) = 0;
  /// As `launch`, for a kernel of any loaded image, by name. Returns false if
  /// no image has it.
  virtual bool launchOwn(const std::string &name, KernelLaunch launch) = 0;
  /// Submits this thread's launches, as one graph if they recur
  /// (LaunchGraphs.h).
  virtual void send() = 0;
  /// Waits for all launches.
  virtual void wait() = 0;

  /// Receives the duration of every launch; each launch is then synchronous.
  using Observer = void (*)(const char *kernel, double seconds);
  void observe(Observer next) { observer = next; }

protected:
  Observer observer = nullptr;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_DEVICE_H
