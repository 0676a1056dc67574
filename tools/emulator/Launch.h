//===- Launch.h - what the emulated driver launches -------------*- C++ -*-===//

#ifndef FOVEA_TOOLS_EMULATOR_LAUNCH_H
#define FOVEA_TOOLS_EMULATOR_LAUNCH_H

#include "tools/emulator/Machine.h"
#include "tools/emulator/Module.h"

#include <mutex>

#define EXPORT extern "C" __attribute__((visibility("default"))) int

namespace fovea::emulator {

constexpr int badValue = 1, outOfMemory = 2, notInitialized = 3, noDevice = 100,
              badImage = 200, notFound = 500, launchFailed = 719;

/// Host threads may prepare batches while others launch.
std::recursive_mutex &driverMutex();

/// The settings in the environment.
int64_t numberOf(const char *name, int64_t otherwise);

/// The compute capability of the device, such as 80.
int64_t capability();

/// Sets `text` as the message of the error `code`, and returns the code.
int answer(int code, const std::string &text);

/// Writes a line to the file of FOVEA_EMULATOR_LOG.
void log(const std::string &line);

/// Runs a kernel. `parameters` are addresses: of its list and of its units.
/// `isTogether`: all blocks are there at the same time.
int launch(const Kernel &kernel, const Grid &grid, void *const *parameters,
           bool isTogether = false);

/// Copies between memory of the device and of the host.
int copy(void *to, const void *from, size_t bytes, bool toHost, bool isLater);

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_LAUNCH_H
