//===- Driver.cpp - CUDA's driver by an emulator --------------------------===//
//
// The functions of runtime/device/CudaApi.def. Environment variables control
// the behaviour:
//
//   FOVEA_EMULATOR_SCHEDULE    ascending, descending, or the seed of a shuffle
//   FOVEA_EMULATOR_PROCESSORS  number of processors: the size of grids
//   FOVEA_EMULATOR_DEVICES     number of devices; CUDA_VISIBLE_DEVICES selects
//                              among them as usual
//   FOVEA_EMULATOR_BYTES       memory of a device
//   FOVEA_EMULATOR_VERSION     version of the driver, such as 13000
//   FOVEA_EMULATOR_CAPABILITY  of the device: 80 if it is not set
//   FOVEA_EMULATOR_EDIT        before=>after: an edit of the PTX
//   FOVEA_EMULATOR_BROKEN      1: the driver does not start
//   FOVEA_EMULATOR_MANAGED     0: the device has no managed memory
//   FOVEA_EMULATOR_LOST        the launch that loses the device
//   FOVEA_EMULATOR_GRAPHS      0: there is no memory for graphs
//   FOVEA_EMULATOR_COOPERATIVE 0: cooperative launches are refused
//   FOVEA_EMULATOR_CLUSTERS    0: there are no clusters of blocks
//   FOVEA_EMULATOR_LOG         a file that gets a line for each launch, and for
//                              each graph, followed by its launches
//   FOVEA_EMULATOR_WATCH       0: accesses are not checked
//   FOVEA_EMULATOR_SUMS        ascending: tensor cores add as a CPU does
//   FOVEA_EMULATOR_FAULT       a planted fault, which tests must find:
//     barriers    no thread waits for its block
//     blocks      every block takes itself for the first one
//     memory      an allocation lacks its last number
//     updates     a graph keeps its old arguments
//     bytes       no barrier expects bytes
//     sides       a wait changes sides of products that stay on their way
//
//===----------------------------------------------------------------------===//

#include "runtime/device/KernelNode.h"
#include "tools/emulator/Launch.h"
#include "tools/emulator/ptx/Warp.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <set>

using namespace fovea::emulator;

Machine &fovea::emulator::machine() {
  static auto *own = new Machine;
  return *own;
}

std::recursive_mutex &fovea::emulator::driverMutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

int64_t fovea::emulator::numberOf(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : otherwise;
}

int64_t fovea::emulator::capability() {
  return numberOf("FOVEA_EMULATOR_CAPABILITY", 80);
}

static int64_t totalBytes() {
  return numberOf("FOVEA_EMULATOR_BYTES", int64_t(1) << 33);
}

/// The number of devices before the first invalid one in CUDA_VISIBLE_DEVICES.
static int64_t numDevices() {
  int64_t all = numberOf("FOVEA_EMULATOR_DEVICES", 1);
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!visible)
    return all;
  int64_t count = 0;
  for (const char *rest = visible; *rest; ++count) {
    char *end;
    int64_t number = std::strtoll(rest, &end, 10);
    if (end == rest || number < 0 || number >= all)
      break;
    rest = *end == ',' ? end + 1 : end;
  }
  return count;
}

/// The last error; the driver has no messages of its own.
static std::string &lastError() {
  static std::string text;
  return text;
}
static bool hasFailed = false;
static int64_t usedBytes = 0;
static std::set<void *> &pinned() {
  static auto *all = new std::set<void *>;
  return *all;
}
static std::map<void *, int64_t> &sizes() {
  static auto *all = new std::map<void *, int64_t>;
  return *all;
}

int fovea::emulator::answer(int code, const std::string &text) {
  lastError() = text;
  return code;
}

/// The fault with a name of FOVEA_EMULATOR_FAULT.
static Fault faultOf(std::string_view name) {
  static constexpr std::pair<std::string_view, Fault> named[] = {
      {"barriers", Fault::Barriers}, {"blocks", Fault::Blocks},
      {"memory", Fault::Memory},     {"updates", Fault::Updates},
      {"bytes", Fault::Bytes},       {"sides", Fault::Sides},
  };
  for (auto [known, fault] : named)
    if (name == known)
      return fault;
  return Fault::None;
}

EXPORT cuInit(unsigned) {
  if (numberOf("FOVEA_EMULATOR_BROKEN", 0) != 0)
    return answer(notInitialized, "the driver does not start");
  // As the driver does where it is told of none.
  if (numDevices() == 0 && std::getenv("CUDA_VISIBLE_DEVICES"))
    return answer(noDevice, "no CUDA-capable device is detected");
  Machine &own = machine();
  const char *schedule = std::getenv("FOVEA_EMULATOR_SCHEDULE");
  std::string_view name = schedule ? schedule : "ascending";
  own.schedule = name == "ascending"    ? Schedule::Ascending
                 : name == "descending" ? Schedule::Descending
                                        : Schedule::Shuffled;
  const char *fault = std::getenv("FOVEA_EMULATOR_FAULT");
  own.fault = faultOf(fault ? fault : "");
  own.isWatched = numberOf("FOVEA_EMULATOR_WATCH", 1) != 0;
  own.seed = static_cast<uint32_t>(numberOf("FOVEA_EMULATOR_SCHEDULE", 1));
  return 0;
}
EXPORT cuDriverGetVersion(int *version) {
  *version = static_cast<int>(numberOf("FOVEA_EMULATOR_VERSION", 13000));
  return 0;
}
EXPORT cuDeviceGetCount(int *count) {
  *count = static_cast<int>(numDevices());
  return 0;
}
EXPORT cuDeviceGet(int *device, int number) {
  *device = number;
  return number == 0 ? 0 : answer(noDevice, "there is no such device");
}
EXPORT cuDeviceGetName(char *name, int size, int) {
  std::strncpy(name, "emulator", size);
  return 0;
}
EXPORT cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 16:
    *value = static_cast<int>(numberOf("FOVEA_EMULATOR_PROCESSORS", 2));
    return 0;
  case 75:
  case 76: {
    int64_t both = capability();
    *value = static_cast<int>(attribute == 75 ? both / 10 : both % 10);
    return 0;
  }
  case 89:
    *value = static_cast<int>(numberOf("FOVEA_EMULATOR_MANAGED", 1));
    return 0;
  case 95:
    *value = static_cast<int>(numberOf("FOVEA_EMULATOR_COOPERATIVE", 1));
    return 0;
  case 120:
    *value = static_cast<int>(numberOf("FOVEA_EMULATOR_CLUSTERS", 1));
    return 0;
  default:
    return answer(badValue, "an attribute that is not known");
  }
}
EXPORT cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = totalBytes();
  return 0;
}
EXPORT cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &machine();
  return 0;
}
EXPORT cuCtxSetCurrent(void *) { return 0; }

static int allocate(void **address, size_t bytes, bool isApart) {
  std::lock_guard lock(driverMutex());
  if (usedBytes + static_cast<int64_t>(bytes) > totalBytes())
    return answer(outOfMemory, "out of memory");
  bool isShort = machine().fault == Fault::Memory && bytes > sizeof(int64_t);
  size_t own = isShort ? bytes - sizeof(int32_t) : bytes;
  Memory &memory = machine().memory;
  *address = isApart ? memory.allocateApart(own) : memory.allocate(own);
  if (!*address)
    return answer(outOfMemory, "out of memory");
  usedBytes += static_cast<int64_t>(bytes);
  sizes()[*address] = static_cast<int64_t>(bytes);
  return 0;
}
EXPORT cuMemAllocManaged(void **address, size_t bytes, unsigned) {
  return allocate(address, bytes, /*isApart=*/false);
}
EXPORT cuMemAlloc_v2(void **address, size_t bytes) {
  return allocate(address, bytes, /*isApart=*/true);
}
EXPORT cuMemFree_v2(void *address) {
  std::lock_guard lock(driverMutex());
  if (pinned().contains(address) || !machine().memory.free(address))
    return answer(badValue, "memory that is not there is given back");
  usedBytes -= sizes()[address];
  sizes().erase(address);
  return 0;
}

// Memory of the host, which the device reads and writes across the bus.
EXPORT cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  constexpr unsigned deviceMap = 2;
  std::lock_guard lock(driverMutex());
  if ((flags & deviceMap) == 0)
    return answer(badValue, "pinned memory that the device cannot access");
  *address = machine().memory.allocate(bytes);
  if (!*address)
    return answer(outOfMemory, "out of memory");
  pinned().insert(*address);
  log(fmt::format("pinned {} bytes", bytes));
  return 0;
}
EXPORT cuMemFreeHost(void *address) {
  std::lock_guard lock(driverMutex());
  if (pinned().erase(address) == 0 || !machine().memory.free(address))
    return answer(badValue, "pinned memory that is not there is given back");
  return 0;
}

/// `isLater`: the host goes on meanwhile, so its side has to be pinned.
int fovea::emulator::copy(void *to, const void *from, size_t bytes, bool toHost,
                          bool isLater) {
  std::lock_guard lock(driverMutex());
  if (hasFailed)
    return launchFailed;
  const void *ofHost = toHost ? to : from, *ofDevice = toHost ? from : to;
  Memory &memory = machine().memory;
  if (isLater && !memory.holds(static_cast<const char *>(ofHost), bytes))
    return answer(badValue, "a copy of memory of the host that is not pinned");
  // A device that lacks a number copies what it has.
  bool isShort = machine().fault == Fault::Memory && bytes > sizeof(int64_t);
  if (isShort)
    bytes -= sizeof(int32_t);
  if (!memory.holds(static_cast<const char *>(ofDevice), bytes))
    return answer(badValue, "a copy of memory that is not there");
  char *own = memory.contentOf(reinterpret_cast<uint64_t>(ofDevice));
  if (toHost)
    std::memcpy(to, own, bytes);
  else
    std::memcpy(own, from, bytes);
  return 0;
}
EXPORT cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes) {
  return copy(to, from, bytes, /*toHost=*/false, /*isLater=*/false);
}
EXPORT cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes) {
  return copy(to, from, bytes, /*toHost=*/true, /*isLater=*/false);
}
EXPORT cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *) {
  log(fmt::format("copies {} bytes to the device", bytes));
  return copy(to, from, bytes, /*toHost=*/false, /*isLater=*/true);
}
EXPORT cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes, void *) {
  log(fmt::format("copies {} bytes to the host", bytes));
  return copy(to, from, bytes, /*toHost=*/true, /*isLater=*/true);
}

EXPORT cuModuleLoadData(void **module, const void *image) {
  std::string wrong;
  auto loaded = DeviceModule::load(static_cast<const char *>(image), wrong);
  if (!loaded)
    return answer(badImage, wrong);
  *module = loaded.release();
  return 0;
}
EXPORT cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = static_cast<DeviceModule *>(module)->find(name);
  return *function
             ? 0
             : answer(notFound, fmt::format("there is no kernel '{}'", name));
}

void fovea::emulator::log(const std::string &line) {
  static std::FILE *file = [] {
    const char *name = std::getenv("FOVEA_EMULATOR_LOG");
    return name ? std::fopen(name, "w") : nullptr;
  }();
  if (!file)
    return;
  fmt::print(file, "{}\n", line);
  (void)std::fflush(file);
}

EXPORT cuFuncSetAttribute(void *function, int attribute, int value) {
  constexpr int mostSharedBytes = 8;
  if (attribute != mostSharedBytes || value < 0 ||
      value > DeviceModule::mostSharedBytes)
    return answer(badValue, "a block has no memory of this size");
  static_cast<Kernel *>(function)->mostSharedBytes = value;
  return 0;
}

int fovea::emulator::launch(const Kernel &kernel, const Grid &grid,
                            void *const *parameters, bool isTogether) {
  std::lock_guard lock(driverMutex());
  static int64_t numLaunches = 0;
  if (numLaunches++ == numberOf("FOVEA_EMULATOR_LOST", -1))
    hasFailed = answer(launchFailed, "the device is lost") != 0;
  if (hasFailed)
    return launchFailed;
  constexpr size_t mostSlots = 4096 / sizeof(int64_t) - 1;
  if (kernel.slots() > mostSlots)
    return answer(badValue, "a kernel has 4096 bytes of parameters at most");
  if (grid.sharedBytes > kernel.mostSharedBytes)
    return answer(badValue,
                  fmt::format("a block of kernel '{}' may have {} "
                              "bytes, not {}",
                              kernel.entry->name, kernel.mostSharedBytes,
                              grid.sharedBytes));
  if (grid.blocks % grid.cluster != 0)
    return answer(badValue, fmt::format("{} blocks are no clusters of {}",
                                        grid.blocks, grid.cluster));
  auto units = *static_cast<int64_t *>(parameters[1]);
  log(fmt::format("{} blocks {} threads {} units {}{}", kernel.entry->name,
                  grid.blocks, grid.threads, units,
                  isTogether ? " together"
                  : grid.cluster > 1
                      ? fmt::format(" in clusters of {}", grid.cluster)
                      : ""));
  std::string wrong = ptx::launch(*kernel.entry, grid,
                                  static_cast<const int64_t *>(parameters[0]),
                                  units, isTogether);
  if (wrong.empty())
    return 0;
  // As on a device, the error appears at the next wait.
  hasFailed = true;
  answer(launchFailed,
         fmt::format("kernel '{}': {}", kernel.entry->name, wrong));
  return 0;
}
EXPORT cuLaunchKernelEx(const fovea::runtime::LaunchConfig *config,
                        void *function, void **parameters, void **) {
  Grid grid{config->blocksX, config->threadsX, config->sharedBytes};
  for (unsigned number = 0; number < config->numAttributes; ++number) {
    const fovea::runtime::ClusterAttribute &own = config->attributes[number];
    if (own.id != own.clusterDimension)
      return answer(badValue, "an attribute of a launch that is not known");
    grid.cluster = own.clusterX;
  }
  return launch(*static_cast<Kernel *>(function), grid, parameters);
}
/// Of any kernel.
static constexpr int64_t blocksOfProcessor = 2;

EXPORT cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int,
                                                   size_t) {
  *blocks = blocksOfProcessor;
  return 0;
}
EXPORT cuLaunchCooperativeKernel(void *function, unsigned blocks, unsigned,
                                 unsigned, unsigned threads, unsigned, unsigned,
                                 unsigned sharedBytes, void *,
                                 void **parameters) {
  constexpr int tooLarge = 720;
  if (blocks > numberOf("FOVEA_EMULATOR_PROCESSORS", 2) * blocksOfProcessor)
    return answer(tooLarge, "so many blocks are not there at the same time");
  return launch(*static_cast<Kernel *>(function),
                {blocks, threads, sharedBytes}, parameters,
                /*isTogether=*/true);
}
EXPORT cuStreamSynchronize(void *) { return hasFailed ? launchFailed : 0; }
EXPORT cuGetErrorString(int, const char **text) {
  *text = lastError().c_str();
  return 0;
}
