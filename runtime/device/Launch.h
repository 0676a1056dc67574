//===- Launch.h - what compiled code calls of a device --------------------===//

#ifndef FOVEA_RUNTIME_DEVICE_LAUNCH_H
#define FOVEA_RUNTIME_DEVICE_LAUNCH_H

#include <cstdint>

extern "C" {

/// Makes the open device (runtime/device/Device.h) run the kernel `name` of
/// `image`, which has `size` bytes, for `units` work units, after the earlier
/// launches. `list`, of `slots` numbers, is copied. A block has `sharedBytes`
/// of memory on the chip in addition to its code's. `clusterBlocks` of them
/// share what they fetch (0: none, and a processor has any number).
void fovea_launch(const void *image, int64_t size, const char *name,
                  const int64_t *list, int64_t slots, int64_t units,
                  int64_t threads, int64_t unitsAtOnce, int64_t sharedBytes,
                  int64_t clusterBlocks);

/// All `steps` of a loop as one launch, whose blocks wait for each other
/// `barriers` times in each. 0: the device does not do that, and the loop is
/// launched kernel by kernel.
int64_t fovea_launch_loop(const void *image, int64_t size, const char *name,
                          const int64_t *list, int64_t slots, int64_t steps,
                          int64_t threads, int64_t barriers,
                          int64_t sharedBytes);

/// Ends a list of launches that may recur together: a loop, or the code between
/// two loops.
void fovea_launch_send(void);

/// Waits for all launches.
void fovea_launch_wait(void);
}

#endif // FOVEA_RUNTIME_DEVICE_LAUNCH_H
