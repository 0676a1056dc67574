//===- Messages.h - what a plug-in of messages gives ----------------------===//
//
// The interface of libfovea_openmpi.so and libfovea_mpich.so, which are one
// source built with the headers of each library: their types differ, what they
// do does not. Plain C, so that nothing but this has to agree. A call that
// fails says so by a code that is not 0, and `explain` has a sentence for it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MACHINES_MESSAGES_H
#define FOVEA_DRIVER_MACHINES_MESSAGES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Of each rank: how many units, and where they begin.
typedef struct FoveaParts {
  const int64_t *counts, *places;
} FoveaParts;

typedef struct FoveaMessages {
  /// Begins to talk to the other processes that were started.
  int (*start)(int *rank, int *size);
  /// Begins a transfer; *transfer is freed when `test` says that it is done.
  int (*exchange)(const void *from, FoveaParts sent, void *to,
                  FoveaParts received, int64_t unit, void **transfer);
  int (*gather)(void *array, FoveaParts parts, int64_t unit, void **transfer);
  /// Of rank 0; at most 2^31 - 1 bytes.
  int (*broadcast)(void *bytes, int64_t size, void **transfer);
  /// One byte to or from another rank, which stays where it is until `test`
  /// says that the transfer is done.
  int (*send)(const char *byte, int rank, void **transfer);
  int (*receive)(char *byte, int rank, void **transfer);
  int (*test)(void *transfer, int *is_done);
  /// Waits for the others, and ends.
  int (*end)(void);
  const char *(*explain)(int error);
} FoveaMessages;

/// The only name of a plug-in. Null where it is of another interface.
const FoveaMessages *fovea_messages(int interface_version);
#define FOVEA_MESSAGES_VERSION 2

#ifdef __cplusplus
}
#endif

#endif
