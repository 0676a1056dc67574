//===- MpiMessages.c - messages by MPI ------------------------------------===//
//
// Thin: each function is one of MPI. Units are a type of MPI, so that its
// counts, which are ints, reach as far as memory does.
//
//===----------------------------------------------------------------------===//

#include "app/machines/Messages.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

/// Counts and places have to live until a transfer is done.
typedef struct Transfer {
  MPI_Request request;
  MPI_Datatype type;
  int *numbers;
} Transfer;

static int numProcesses;

static Transfer *newTransfer(int64_t unit) {
  Transfer *made = calloc(1, sizeof(Transfer));
  if (!made)
    return NULL;
  made->numbers = malloc(4 * sizeof(int) * (size_t)numProcesses);
  if (!made->numbers || unit > INT_MAX ||
      MPI_Type_contiguous((int)unit, MPI_BYTE, &made->type) != MPI_SUCCESS) {
    free(made->numbers);
    free(made);
    return NULL;
  }
  MPI_Type_commit(&made->type);
  return made;
}

static void freeTransfer(Transfer *transfer) {
  MPI_Type_free(&transfer->type);
  free(transfer->numbers);
  free(transfer);
}

/// Writes counts, then places, as ints.
static int writeParts(FoveaParts parts, int *numbers) {
  for (int rank = 0; rank < numProcesses; ++rank) {
    if (parts.counts[rank] > INT_MAX || parts.places[rank] > INT_MAX)
      return MPI_ERR_COUNT;
    numbers[rank] = (int)parts.counts[rank];
    numbers[numProcesses + rank] = (int)parts.places[rank];
  }
  return MPI_SUCCESS;
}

static int start(int *rank, int *size) {
  int level;
  int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
  if (error == MPI_SUCCESS)
    error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (error == MPI_SUCCESS)
    error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  if (error == MPI_SUCCESS)
    error = MPI_Comm_size(MPI_COMM_WORLD, size);
  numProcesses = *size;
  return error;
}

static int exchange(const void *from, FoveaParts sent, void *to,
                    FoveaParts received, int64_t unit, void **transfer) {
  Transfer *made = newTransfer(unit);
  if (!made)
    return MPI_ERR_NO_MEM;
  int *out = made->numbers, *in = made->numbers + 2 * numProcesses;
  int error = writeParts(sent, out);
  if (error == MPI_SUCCESS)
    error = writeParts(received, in);
  if (error == MPI_SUCCESS)
    error = MPI_Ialltoallv(from, out, out + numProcesses, made->type, to, in,
                           in + numProcesses, made->type, MPI_COMM_WORLD,
                           &made->request);
  *transfer = made;
  return error;
}

static int gather(void *array, FoveaParts parts, int64_t unit,
                  void **transfer) {
  Transfer *made = newTransfer(unit);
  if (!made)
    return MPI_ERR_NO_MEM;
  int *numbers = made->numbers;
  int error = writeParts(parts, numbers);
  if (error == MPI_SUCCESS)
    error = MPI_Iallgatherv(MPI_IN_PLACE, 0, made->type, array, numbers,
                            numbers + numProcesses, made->type, MPI_COMM_WORLD,
                            &made->request);
  *transfer = made;
  return error;
}

static int broadcast(void *bytes, int64_t size, void **transfer) {
  Transfer *made = newTransfer(1);
  if (!made || size > INT_MAX)
    return MPI_ERR_COUNT;
  *transfer = made;
  return MPI_Ibcast(bytes, (int)size, made->type, 0, MPI_COMM_WORLD,
                    &made->request);
}

static int sendByte(const char *byte, int rank, void **transfer) {
  Transfer *made = newTransfer(1);
  if (!made)
    return MPI_ERR_NO_MEM;
  *transfer = made;
  return MPI_Isend(byte, 1, made->type, rank, 0, MPI_COMM_WORLD,
                   &made->request);
}

static int receiveByte(char *byte, int rank, void **transfer) {
  Transfer *made = newTransfer(1);
  if (!made)
    return MPI_ERR_NO_MEM;
  *transfer = made;
  return MPI_Irecv(byte, 1, made->type, rank, 0, MPI_COMM_WORLD,
                   &made->request);
}

static int test(void *opaque, int *isDone) {
  Transfer *transfer = opaque;
  int error = MPI_Test(&transfer->request, isDone, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS && *isDone)
    freeTransfer(transfer);
  return error;
}

static int end(void) { return MPI_Finalize(); }

static const char *explain(int error) {
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS)
    return "an error that MPI does not know";
  return text;
}

__attribute__((visibility("default"))) const FoveaMessages *
fovea_messages(int version) {
  static const FoveaMessages messages = {start,     exchange, gather,
                                         broadcast, sendByte, receiveByte,
                                         test,      end,      explain};
  return version == FOVEA_MESSAGES_VERSION ? &messages : NULL;
}
