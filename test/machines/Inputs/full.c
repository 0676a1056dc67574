/* A disk that has no space left for the files whose path has $FULL in it, as
   those say so that write late. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fsync(int file) {
  int (*own)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  char link[64], path[4096] = "";
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const char *full = getenv("FULL");
  if (full && readlink(link, path, sizeof(path) - 1) > 0 &&
      strstr(path, full)) {
    errno = ENOSPC;
    return -1;
  }
  return own(file);
}
