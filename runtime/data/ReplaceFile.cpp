//===- ReplaceFile.cpp - a file that appears when it is whole -------------===//

#include "runtime/data/ReplaceFile.h"
#include "runtime/data/OpenFile.h"

#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::runtime;

ReplaceFile::~ReplaceFile() {
  int error = errno;
  if (file >= 0)
    close(file);
  if (!part.empty())
    unlink(part.c_str());
  errno = error;
}

bool ReplaceFile::open(const std::string &target) {
  path = target;
  struct stat before;
  bool isThere = stat(path.c_str(), &before) == 0;
  if (!isThere && errno != ENOENT)
    return false;
  mode_t mode = isThere ? before.st_mode & 07777 : 0666;
  // Until it gets its permissions, only the owner can access it.
  for (int left = 100; left > 0 && file < 0; --left) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
      return false;
    part = fmt::format("{}.{:016x}.part", path, number);
    file = ::open(part.c_str(),
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  isThere ? 0600 : mode);
    if (file < 0 && errno != EEXIST && errno != EINTR)
      break;
  }
  if (file < 0)
    part.clear();
  return file >= 0 && (!isThere || fchmod(file, mode) == 0);
}

bool ReplaceFile::write(std::string_view bytes) {
  return writeAll(file, bytes);
}

bool ReplaceFile::finish() {
  int written = file;
  file = -1;
  bool isSynced = throughSignals([&] { return fsync(written); }) == 0;
  int error = errno;
  bool isClosed = close(written) == 0;
  if (!isSynced)
    errno = error;
  if (!isSynced || !isClosed || std::rename(part.c_str(), path.c_str()) != 0)
    return false;
  part.clear();
  return true;
}
