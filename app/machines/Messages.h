//===- Messages.h - what a plug-in of messages gives ----------------------===//
//
// The interface of libfovea_openmpi.so and libfovea_mpich.so: one source, built
// with the headers of each library, because their types differ. It is plain C,
// so nothing else has to match. A failed call returns a code other than 0, and
// `explain` returns its message.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MACHINES_MESSAGES_H
#define FOVEA_APP_MACHINES_MESSAGES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// For each rank: the number of units, and their offset.
typedef struct FoveaParts {
  const int64_t *counts, *places;
} FoveaParts;

typedef struct FoveaMessages {
  /// Connects to the other processes.
  int (*start)(int *rank, int *size);
  /// Starts a transfer; *transfer is freed when `test` reports completion.
  int (*exchange)(const void *from, FoveaParts sent, void *to,
                  FoveaParts received, int64_t unit, void **transfer);
  int (*gather)(void *array, FoveaParts parts, int64_t unit, void **transfer);
  /// Broadcasts from rank 0; at most 2^31 - 1 bytes.
  int (*broadcast)(void *bytes, int64_t size, void **transfer);
  /// Sends one byte to or from another rank; its memory must stay valid until
  /// `test` reports completion.
  int (*send)(const char *byte, int rank, void **transfer);
  int (*receive)(char *byte, int rank, void **transfer);
  int (*test)(void *transfer, int *is_done);
  /// Waits for the others, and ends.
  int (*end)(void);
  const char *(*explain)(int error);
} FoveaMessages;

/// The only symbol of a plug-in. Returns null for another interface version.
const FoveaMessages *fovea_messages(int interface_version);
#define FOVEA_MESSAGES_VERSION 2

#ifdef __cplusplus
}
#endif

#endif
