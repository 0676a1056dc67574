//===- OpenFile.cpp - files, opened without waiting -----------------------===//

#include "runtime/data/OpenFile.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::runtime;

/// Returns whether a descriptor is an anonymous pipe: its other end is open, or
/// was.
static bool isAnonymous(int descriptor) {
  std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  char target[8];
  ssize_t size = readlink(link.c_str(), target, sizeof(target));
  return size >= 5 && std::memcmp(target, "pipe:", 5) == 0;
}

int fovea::runtime::openToRead(const std::string &path, std::string &why) {
  int descriptor = throughSignals([&] {
    return open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  });
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0)
    why = std::strerror(errno);
  else if (S_ISDIR(status.st_mode))
    why = std::strerror(EISDIR);
  else if (S_ISFIFO(status.st_mode) && !isAnonymous(descriptor))
    why = "it is a named pipe, not a file";
  else if (S_ISCHR(status.st_mode) && !isatty(descriptor))
    why = "it is a device, not a file";
  else if (fcntl(descriptor, F_SETFL, 0) != 0)
    why = std::strerror(errno);
  else
    return descriptor;
  if (descriptor >= 0)
    close(descriptor);
  return -1;
}

bool fovea::runtime::readAll(int descriptor, std::string &bytes) {
  bytes.clear();
  char part[1 << 16];
  ssize_t count;
  while ((count = throughSignals(
              [&] { return read(descriptor, part, sizeof(part)); })) > 0)
    bytes.append(part, static_cast<size_t>(count));
  return count == 0;
}

bool fovea::runtime::writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = throughSignals(
        [&] { return write(descriptor, bytes.data(), bytes.size()); });
    if (count < 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

bool fovea::runtime::readWhole(const std::string &path, std::string &bytes,
                               std::string &why) {
  int descriptor = openToRead(path, why);
  if (descriptor < 0)
    return false;
  bool good = readAll(descriptor, bytes);
  if (!good)
    why = std::strerror(errno);
  close(descriptor);
  return good;
}

bool fovea::runtime::findBeside(const std::string &folder,
                                const std::string &name, std::string &path,
                                std::string &why) {
  constexpr const char *help =
      "; help: a file may only name files beside it or in folders below";
  path = folder.empty() || name.starts_with('/') ? name : folder + "/" + name;
  if (name.starts_with('/') || name.find('\0') != name.npos) {
    why = std::string("it is an absolute path") + help;
    return false;
  }
  std::string place = folder.empty() ? "." : folder;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('/', begin), name.size());
    std::string part = name.substr(begin, end - begin);
    begin = end + 1;
    if (part == "..") {
      why = std::string("'..' leaves the folder") + help;
      return false;
    }
    place += "/" + part;
    struct stat status;
    if (lstat(place.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
      why = "'" + part + "' is a symbolic link" + help;
      return false;
    }
  }
  return true;
}

int fovea::runtime::openToWriteInto(const std::string &path, std::string &why) {
  int descriptor = throughSignals([&] {
    return open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  });
  if (descriptor >= 0 && fcntl(descriptor, F_SETFL, O_APPEND) == 0)
    return descriptor;
  why = descriptor < 0 && errno == ENXIO ? "this pipe has no reader"
                                         : std::strerror(errno);
  if (descriptor >= 0)
    close(descriptor);
  return -1;
}
