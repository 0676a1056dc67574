//===- Device.cpp - the GPU of this process -------------------------------===//

#include "runtime/device/Device.h"
#include "runtime/device/CudaDriver.h"
#include "runtime/device/Launch.h"
#include "runtime/device/LaunchGraphs.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

using namespace fovea::runtime;

namespace {

class CudaDevice final : public Device {
public:
  Status open();

  const std::string &name() const override { return ownName; }
  int major() const override { return ownMajor; }
  int minor() const override { return ownMinor; }
  int64_t totalBytes() const override { return bytes; }
  void *allocate(size_t bytes) override;
  void free(void *memory) override;
  void *allocatePinned(size_t bytes) override;
  void freePinned(void *memory) override;
  bool hasOwnMemory() const override { return !sharesMemory; }
  void shareMemory() override { sharesMemory = true; }
  void *allocateOwn(size_t bytes) override;
  void copy(void *to, const void *from, size_t bytes, bool toHost) override;
  void read(void *to, const void *from, size_t bytes) override;
  void write(void *to, const void *from, size_t bytes) override;
  void launch(const KernelLaunch &launch) override;
  bool launchLoop(const KernelLaunch &launch, int64_t barriers) override;
  bool launchOwn(const std::string &name, KernelLaunch launch) override;
  void send() override;
  void wait() override;

private:
  void launch(const KernelLaunch &launch, void *function);
  void note(const char *kernel);
  std::string text(int error) const;
  void check(int error, const char *what) const;
  void *function(const KernelLaunch &launch);

  CudaDriver driver;
  LaunchGraphs graphs{driver};
  std::string ownName;
  int ownMajor = 0, ownMinor = 0, processors = 1;
  int64_t bytes = 0;
  bool launchesLoops = false, hasClusters = false, sharesMemory = false;
  /// Null: kernels are not traced.
  std::FILE *trace = nullptr;
  std::string traced; // the last one
  void *context = nullptr;
  std::mutex mutex; // of the following
  std::map<const void *, void *> modules;
  struct Function {
    void *handle = nullptr;
    int64_t sharedBytes = 0; // that it may have
  };
  std::map<const char *, Function> functions;
  std::map<std::string, void *> ownFunctions;
};

} // namespace

/// Launches of this thread that have not been submitted.
static LaunchList &unsent() {
  static thread_local LaunchList list;
  return list;
}

Status CudaDriver::load() {
  constexpr const char *file = "libcuda.so.1";
  // Never closed: the library's own threads end with the process.
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::machine(fmt::format(
        "no usable GPU: the CUDA driver ('{}') is not installed", file));
#define CUDA_FUNCTION(name, arguments)                                         \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name));              \
  if (!name)                                                                   \
    return Status::machine("the CUDA driver is too old: it has no '" #name "'");
#include "runtime/device/CudaApi.def"
  return Status::success();
}

std::string CudaDevice::text(int error) const {
  const char *text = nullptr;
  driver.cuGetErrorString(error, &text);
  return text ? text : fmt::format("error {}", error);
}

void CudaDevice::check(int error, const char *what) const {
  if (error == 0)
    return;
  fmt::print(stderr, "error: the GPU '{}' cannot {}: {}\n", ownName, what,
             text(error));
  (void)std::fflush(stdout);
  std::_Exit(3);
}

Status CudaDevice::open() {
  constexpr int oldest = 12000; // CUDA 12.0, of PTX 8.0
  if (Status status = driver.load(); status.failed())
    return status;
  auto unusable = [](const std::string &why) {
    return Status::machine("no usable GPU: " + why);
  };
  // If a variable hides devices, it is the likeliest cause.
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string none =
      visible ? fmt::format(
                    "the driver reports none; 'CUDA_VISIBLE_DEVICES' is '{}'",
                    visible)
              : "the driver reports none";
  constexpr int noDevice = 100;
  int version = 0, count = 0, device = 0;
  if (int error = driver.cuInit(0))
    return unusable(error == noDevice ? none : text(error));
  driver.cuDriverGetVersion(&version);
  if (version < oldest)
    return Status::machine(
        fmt::format("the CUDA driver has version {}.{}, but 12.0 is required",
                    version / 1000, version % 1000 / 10));
  if (int error = driver.cuDeviceGetCount(&count))
    return unusable(text(error));
  if (count == 0)
    return unusable(none);
  if (int error = driver.cuDeviceGet(&device, 0))
    return unusable(text(error));
  char name[256] = {};
  driver.cuDeviceGetName(name, sizeof(name) - 1, device);
  ownName = name;
  // CU_DEVICE_ATTRIBUTE_..
  constexpr int processorCount = 16, majorNumber = 75, minorNumber = 76,
                concurrentManagedAccess = 89, cooperativeLaunch = 95,
                clusterLaunch = 120;
  int isConcurrent = 0, isCooperative = 0, takesClusters = 0;
  driver.cuDeviceGetAttribute(&processors, processorCount, device);
  driver.cuDeviceGetAttribute(&ownMajor, majorNumber, device);
  driver.cuDeviceGetAttribute(&ownMinor, minorNumber, device);
  driver.cuDeviceGetAttribute(&isConcurrent, concurrentManagedAccess, device);
  driver.cuDeviceGetAttribute(&isCooperative, cooperativeLaunch, device);
  driver.cuDeviceGetAttribute(&takesClusters, clusterLaunch, device);
  if (!isConcurrent)
    return unusable("'" + ownName + "' does not share memory with its host");
  size_t total = 0;
  driver.cuDeviceTotalMem_v2(&total, device);
  bytes = static_cast<int64_t>(total);
  if (int error = driver.cuDevicePrimaryCtxRetain(&context, device))
    return unusable(text(error));
  auto isWanted = [](const char *name) {
    const char *wanted = std::getenv(name);
    return !wanted || std::strcmp(wanted, "0") != 0;
  };
  if (const char *path = std::getenv("FOVEA_CUDA_TRACE")) {
    trace = std::fopen(path, "we");
    if (!trace)
      return Status::error(fmt::format("cannot write FOVEA_CUDA_TRACE '{}': {}",
                                       path, std::strerror(errno)));
  }
  graphs.setOn(isWanted("FOVEA_CUDA_GRAPHS") && !trace);
  graphs.setContext(context);
  sharesMemory = !isWanted("FOVEA_CUDA_OWN_MEMORY");
  hasClusters = takesClusters != 0;
  launchesLoops = isCooperative != 0 && isWanted("FOVEA_CUDA_LOOPS");
  return Status::success();
}

void *CudaDevice::allocate(size_t bytes) {
  constexpr unsigned attachGlobal = 1;
  void *memory = nullptr;
  driver.cuCtxSetCurrent(context);
  if (driver.cuMemAllocManaged(&memory, bytes, attachGlobal) != 0)
    return nullptr;
  return memory;
}

/// What has been added and uses the memory comes first: the driver waits.
void CudaDevice::free(void *memory) {
  send();
  driver.cuCtxSetCurrent(context);
  driver.cuMemFree_v2(memory);
}

void *CudaDevice::allocatePinned(size_t bytes) {
  constexpr unsigned portable = 1, deviceMap = 2;
  void *memory = nullptr;
  driver.cuCtxSetCurrent(context);
  if (driver.cuMemHostAlloc(&memory, bytes, portable | deviceMap) != 0)
    return nullptr;
  return memory;
}

void CudaDevice::freePinned(void *memory) {
  send();
  driver.cuCtxSetCurrent(context);
  driver.cuMemFreeHost(memory);
}

void *CudaDevice::allocateOwn(size_t bytes) {
  if (sharesMemory)
    return allocate(bytes);
  void *memory = nullptr;
  driver.cuCtxSetCurrent(context);
  return driver.cuMemAlloc_v2(&memory, bytes) == 0 ? memory : nullptr;
}

void CudaDevice::copy(void *to, const void *from, size_t bytes, bool toHost) {
  if (bytes > 0)
    unsent().addCopy(to, from, bytes, toHost);
}

void CudaDevice::read(void *to, const void *from, size_t bytes) {
  wait();
  if (bytes > 0)
    check(driver.cuMemcpyDtoH_v2(to, from, bytes), "copy results");
}

void CudaDevice::write(void *to, const void *from, size_t bytes) {
  wait();
  if (bytes > 0)
    check(driver.cuMemcpyHtoD_v2(to, from, bytes), "copy inputs");
}

void *CudaDevice::function(const KernelLaunch &launch) {
  std::lock_guard lock(mutex);
  Function &function = functions[launch.name];
  if (!function.handle) {
    check(driver.cuCtxSetCurrent(context), "be used by this thread");
    void *&module = modules[launch.image];
    if (!module)
      check(driver.cuModuleLoadData(&module, launch.image), "load the kernels");
    check(driver.cuModuleGetFunction(&function.handle, module, launch.name),
          "find a kernel");
  }
  // Above the default of every device, it must be requested.
  constexpr int mostSharedBytes = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_..
  if (launch.sharedBytes > function.sharedBytes) {
    check(driver.cuCtxSetCurrent(context), "be used by this thread");
    check(driver.cuFuncSetAttribute(function.handle, mostSharedBytes,
                                    static_cast<int>(launch.sharedBytes)),
          "give a kernel its memory");
    function.sharedBytes = launch.sharedBytes;
  }
  return function.handle;
}

bool CudaDevice::launchOwn(const std::string &name, KernelLaunch given) {
  void *function = nullptr;
  {
    std::lock_guard lock(mutex);
    auto own = ownFunctions.find(name);
    if (own != ownFunctions.end())
      function = own->second;
    for (auto module = modules.begin(); !function && module != modules.end();
         ++module)
      if (driver.cuModuleGetFunction(&function, module->second, name.c_str()) !=
          0)
        function = nullptr;
    if (!function)
      return false;
    given.name = ownFunctions.try_emplace(name, function).first->first.c_str();
  }
  launch(given, function);
  return true;
}

void CudaDevice::launch(const KernelLaunch &given) {
  launch(given, function(given));
}

void CudaDevice::launch(const KernelLaunch &launch, void *function) {
  // Drivers copy graph parameters, so longer lists gain nothing.
  constexpr size_t mostLaunches = 4096;
  if (launch.units <= 0)
    return;
  // Blocks process further units in turn: more than can run at once gain
  // nothing.
  constexpr int64_t blocksOfProcessor = 32;
  int64_t blocks = (launch.units + launch.unitsAtOnce - 1) / launch.unitsAtOnce;
  int64_t cluster = launch.clusterBlocks;
  int64_t most = processors * blocksOfProcessor;
  if (cluster != 0)
    most = std::max(processors / cluster, int64_t(1)) * cluster;
  blocks = std::min(blocks, most);
  LaunchList &list = unsent();
  if (trace)
    note(launch.name);
  list.add({.function = function,
            .blocks = static_cast<unsigned>(blocks),
            .threads = static_cast<unsigned>(launch.threads),
            .sharedBytes = static_cast<unsigned>(launch.sharedBytes),
            .clusterBlocks = hasClusters && cluster > 1
                                 ? static_cast<unsigned>(cluster)
                                 : 1},
           launch.list, launch.slots, launch.units);
  if (!observer) {
    if (trace)
      wait();
    else if (list.size() == mostLaunches)
      send();
    return;
  }
  auto start = std::chrono::steady_clock::now();
  wait();
  observer(launch.name, std::chrono::duration<double>(
                            std::chrono::steady_clock::now() - start)
                            .count());
}

bool CudaDevice::launchLoop(const KernelLaunch &launch, int64_t) {
  // More blocks have little work per step and more blocks to wait for. Blocks
  // that keep weights on the chip would duplicate them.
  const int mostOfProcessor = launch.sharedBytes == 0 ? 2 : 1;
  constexpr int tooLarge = 720, notSupported = 801;
  send();
  // Timing needs separate kernels.
  if (!launchesLoops || observer)
    return false;
  void *handle = function(launch);
  check(driver.cuCtxSetCurrent(context), "be used by this thread");
  int ofProcessor = 0;
  check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &ofProcessor, handle, static_cast<int>(launch.threads),
            static_cast<size_t>(launch.sharedBytes)),
        "say how many blocks it runs");
  auto blocks = static_cast<unsigned>(processors *
                                      std::min(ofProcessor, mostOfProcessor));
  if (blocks == 0)
    return false;
  auto *list = const_cast<int64_t *>(launch.list);
  int64_t steps = launch.units;
  void *parameters[] = {list, &steps};
  if (trace)
    note(launch.name);
  int error = driver.cuLaunchCooperativeKernel(
      handle, blocks, 1, 1, static_cast<unsigned>(launch.threads), 1, 1,
      static_cast<unsigned>(launch.sharedBytes), /*stream=*/nullptr,
      parameters);
  if (error == tooLarge || error == notSupported)
    return false;
  check(error, "launch a kernel");
  if (trace)
    wait();
  return true;
}

/// After a hang or a fault, the last line of the trace names the kernel.
void CudaDevice::note(const char *kernel) {
  std::lock_guard lock(mutex);
  traced = kernel;
  fmt::print(trace, "{}\n", traced);
  (void)std::fflush(trace);
}

void CudaDevice::send() {
  LaunchList &list = unsent();
  if (list.size() == 0)
    return;
  check(driver.cuCtxSetCurrent(context), "be used by this thread");
  check(graphs.send(list), "launch a kernel");
  list.clear();
}

void CudaDevice::wait() {
  send();
  check(driver.cuCtxSetCurrent(context), "be used by this thread");
  std::string what =
      trace ? fmt::format("run the kernel '{}'", traced) : "run the kernels";
  check(driver.cuStreamSynchronize(nullptr), what.c_str());
}

//===----------------------------------------------------------------------===//
// The device of the process
//===----------------------------------------------------------------------===//

static Device *opened = nullptr;

Device *Device::current() { return opened; }

Status Device::open() {
  if (opened)
    return Status::success();
  auto device = std::make_unique<CudaDevice>();
  if (Status status = device->open(); status.failed())
    return status;
  use(std::move(device));
  return Status::success();
}

/// Lives until the process ends: its memory may be freed late.
void Device::use(std::unique_ptr<Device> device) { opened = device.release(); }

namespace {
struct EndCopy {
  void *to;
  const void *from;
  size_t bytes;
};
} // namespace

/// The copies at the end of the program that this thread runs.
static std::vector<EndCopy> &endCopies() {
  static thread_local std::vector<EndCopy> copies;
  return copies;
}

void Device::readAtEnd(void *to, const void *from, size_t bytes) {
  endCopies().push_back({to, from, bytes});
}

void Device::copy(void *to, const void *from, size_t bytes, bool) {
  wait();
  std::memcpy(to, from, bytes);
}
void Device::read(void *to, const void *from, size_t bytes) {
  copy(to, from, bytes, /*toHost=*/true);
}
void Device::write(void *to, const void *from, size_t bytes) {
  copy(to, from, bytes, /*toHost=*/false);
}

extern "C" void fovea_launch(const void *image, int64_t, const char *name,
                             const int64_t *list, int64_t slots, int64_t units,
                             int64_t threads, int64_t unitsAtOnce,
                             int64_t sharedBytes, int64_t clusterBlocks) {
  Device::current()->launch({.image = image,
                             .name = name,
                             .list = list,
                             .slots = slots,
                             .units = units,
                             .threads = threads,
                             .unitsAtOnce = unitsAtOnce,
                             .sharedBytes = sharedBytes,
                             .clusterBlocks = clusterBlocks});
}

extern "C" int64_t fovea_launch_loop(const void *image, int64_t,
                                     const char *name, const int64_t *list,
                                     int64_t slots, int64_t steps,
                                     int64_t threads, int64_t barriers,
                                     int64_t sharedBytes) {
  return Device::current()->launchLoop({.image = image,
                                        .name = name,
                                        .list = list,
                                        .slots = slots,
                                        .units = steps,
                                        .threads = threads,
                                        .sharedBytes = sharedBytes},
                                       barriers);
}

extern "C" void fovea_launch_send(void) { Device::current()->send(); }

extern "C" void fovea_launch_wait(void) {
  Device *device = Device::current();
  for (const EndCopy &each : std::exchange(endCopies(), {}))
    device->copy(each.to, each.from, each.bytes, /*toHost=*/true);
  device->wait();
}
