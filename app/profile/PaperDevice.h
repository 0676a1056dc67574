//===- PaperDevice.h - a device that runs nothing ---------------*- C++ -*-===//
//
// A mock device that records launches. Its memory is this machine's, filled
// with zeros: programs and searches run their host code, and compute nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_PROFILE_PAPERDEVICE_H
#define FOVEA_APP_PROFILE_PAPERDEVICE_H

#include "runtime/device/Device.h"

#include <map>
#include <mutex>
#include <set>

namespace fovea::cli {

class PaperDevice final : public runtime::Device {
public:
  /// For one kernel: the number of launches, and their total blocks and work
  /// units. `sharedBytes`: the maximum dynamic shared memory of a block.
  struct Launches {
    int64_t count = 0, blocks = 0, units = 0, threads = 0, sharedBytes = 0;
    /// How many of them are parts of a loop in one launch; for such a loop, how
    /// often its blocks synchronise.
    int64_t inLoops = 0, barriers = 0;
  };

  explicit PaperDevice(std::string name) : ownName(std::move(name)) {}

  /// Discards the recorded launches.
  void clear() {
    all.clear();
    code.clear();
  }
  /// By kernel name.
  const std::map<std::string, Launches> &launched() const { return all; }
  /// The code of the kernels, zero-terminated.
  const std::set<const char *> &images() const { return code; }

  const std::string &name() const override { return ownName; }
  int major() const override { return -1; }
  int minor() const override { return -1; }
  int64_t totalBytes() const override { return 0; }
  void *allocate(size_t bytes) override;
  void free(void *memory) override;
  void launch(const runtime::KernelLaunch &launch) override;
  /// Runs through the loop to record the launches in it.
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

#endif // FOVEA_APP_PROFILE_PAPERDEVICE_H
