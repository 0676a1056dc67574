//===- Device.h - the GPU of this process -----------------------*- C++ -*-===//
//
// CUDA's driver is opened when a device is asked for, and nothing links to it.
// Host and device share memory by address (managed memory): what the runtime
// writes, kernels read where it lies.
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

/// What a kernel is launched with, and on.
struct KernelLaunch {
  /// The code that holds it, which is loaded once, and its name there.
  const void *image = nullptr;
  const char *name = nullptr;
  /// The list that it gets by value, how many numbers that has, and its work
  /// units.
  const int64_t *list = nullptr;
  int64_t slots = 0, units = 0;
  /// The threads of a block, and the units that one does at a time.
  int64_t threads = 1, unitsAtOnce = 1;
  /// What its threads share on the chip, besides what the code says.
  int64_t sharedBytes = 0;
  /// How many blocks share what they fetch. Each has a processor to itself, and
  /// takes further units in turns. 0: they share nothing, and any number of
  /// them is on a processor.
  int64_t clusterBlocks = 0;
};

class Device {
public:
  virtual ~Device() = default;

  /// Opens the first device that the process may use, once. Fails, by the
  /// machine, where there is no driver or no device.
  static Status open();
  /// Another one in its place, until the process ends.
  static void use(std::unique_ptr<Device> device);
  /// The one that was opened; null: none.
  static Device *current();

  virtual const std::string &name() const = 0;
  /// The compute capability; 0.0 is the emulator (docs/GPU.md).
  virtual int major() const = 0;
  virtual int minor() const = 0;
  bool isEmulator() const { return major() == 0; }
  virtual int64_t totalBytes() const = 0;

  /// Memory of both sides; null: there is no more.
  virtual void *allocate(size_t bytes) = 0;
  virtual void free(void *memory) = 0;

  /// Launches follow one another; those of a thread are collected until it
  /// sends them or waits. What fails ends the process: what a device has after
  /// that is lost.
  virtual void launch(const KernelLaunch &launch) = 0;
  /// All steps of a loop as one launch, of as many blocks as are there at the
  /// same time; `units` are the steps, in each of which they wait for each
  /// other `barriers` times. False: it has to be launched kernel by kernel.
  virtual bool launchLoop(const KernelLaunch &launch, int64_t barriers) = 0;
  /// As `launch`, of a kernel of any image that was loaded, by its name. False:
  /// none has it.
  virtual bool launchOwn(const std::string &name, KernelLaunch launch) = 0;
  /// What this thread launched is on its way; as one graph, where it comes
  /// again (LaunchGraphs.h).
  virtual void send() = 0;
  /// What was launched is done.
  virtual void wait() = 0;

  /// Is told of every launch how long it took: each is waited for, then.
  using Observer = void (*)(const char *kernel, double seconds);
  void observe(Observer next) { observer = next; }

protected:
  Observer observer = nullptr;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_DEVICE_H
