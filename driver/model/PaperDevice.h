//===- PaperDevice.h - a device that runs nothing ---------------*- C++ -*-===//
//
// Notes what is launched on it. Its memory is this machine's, and full of
// zeros: programs and searches go their way, and what they find is nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_PAPERDEVICE_H
#define FOVEA_DRIVER_MODEL_PAPERDEVICE_H

#include "runtime/device/Device.h"

#include <map>
#include <mutex>
#include <set>

namespace fovea::cli {

class PaperDevice final : public runtime::Device {
public:
  /// Of one kernel: how often, and how many blocks and work units all of that
  /// has. `sharedBytes`: what a block has besides what the code says, at most.
  struct Launches {
    int64_t count = 0, blocks = 0, units = 0, threads = 0, sharedBytes = 0;
    /// How many of them are parts of a loop that is one launch; and of such a
    /// loop, how often its blocks wait for each other.
    int64_t inLoops = 0, barriers = 0;
  };

  explicit PaperDevice(std::string name) : ownName(std::move(name)) {}

  /// Forgets what was launched so far.
  void clear() {
    all.clear();
    code.clear();
  }
  /// By the names that a device knows.
  const std::map<std::string, Launches> &launched() const { return all; }
  /// The code of the kernels, which ends with a 0.
  const std::set<const char *> &images() const { return code; }

  const std::string &name() const override { return ownName; }
  int major() const override { return -1; }
  int minor() const override { return -1; }
  int64_t totalBytes() const override { return 0; }
  void *allocate(size_t bytes) override;
  void free(void *memory) override;
  void launch(const runtime::KernelLaunch &launch) override;
  /// Goes through the loop all the same, to note what is in it.
  bool launchLoop(const runtime::KernelLaunch &launch,
                  int64_t barriers) override;
  bool launchOwn(const std::string &name,
                 runtime::KernelLaunch launch) override;
  void send() override { isInLoop = false; }
  void wait() override {}

private:
  std::string ownName;
  void note(const std::string &name, const runtime::KernelLaunch &launch);
  std::mutex mutex; // of the following
  std::map<void *, size_t> sizes;
  std::map<std::string, Launches> all;
  std::set<const char *> code;
  bool isInLoop = false;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_PAPERDEVICE_H
