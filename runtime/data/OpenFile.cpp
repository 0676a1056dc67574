//===- OpenFile.cpp - files, opened without waiting -----------------------===//

#include "runtime/data/OpenFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::runtime;

/// Whether a descriptor is a pipe without a name: its other end is open, or
/// was.
static bool isAnonymous(int descriptor) {
  std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  char target[8];
  ssize_t size = readlink(link.c_str(), target, sizeof(target));
  return size >= 5 && std::memcmp(target, "pipe:", 5) == 0;
}

int fovea::runtime::openToRead(const std::string &path, std::string &why) {
  int descriptor =
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0)
    why = std::strerror(errno);
  else if (S_ISDIR(status.st_mode))
    why = std::strerror(EISDIR);
  else if (S_ISFIFO(status.st_mode) && !isAnonymous(descriptor))
    why = "it is a named pipe and no file";
  else if (S_ISCHR(status.st_mode) && !isatty(descriptor))
    why = "it is a device and no file";
  else if (fcntl(descriptor, F_SETFL, 0) != 0)
    why = std::strerror(errno);
  else
    return descriptor;
  if (descriptor >= 0)
    close(descriptor);
  return -1;
}

int fovea::runtime::openToWriteInto(const std::string &path, std::string &why) {
  int descriptor =
      open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor >= 0 && fcntl(descriptor, F_SETFL, O_APPEND) == 0)
    return descriptor;
  why = descriptor < 0 && errno == ENXIO ? "nobody reads this pipe"
                                         : std::strerror(errno);
  if (descriptor >= 0)
    close(descriptor);
  return -1;
}
