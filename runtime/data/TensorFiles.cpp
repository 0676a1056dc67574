//===- TensorFiles.cpp - reads and writes files of tensors ----------------===//

#include "runtime/data/OpenFile.h"
#include "runtime/data/TensorLayout.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::runtime;

static Status systemError(const char *what, const std::string &path) {
  return Status::error(
      fmt::format("cannot {} '{}': {}", what, path, std::strerror(errno)));
}

Status fovea::runtime::readSafeTensors(const std::string &path,
                                       TensorFile &file) {
  file = TensorFile();
  std::string why;
  int descriptor = openToRead(path, why);
  FILE *stream = descriptor < 0 ? nullptr : fdopen(descriptor, "rb");
  if (!stream)
    return Status::error(fmt::format("cannot open '{}': {}", path, why));
  std::string bytes;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), stream))
    bytes.append(buffer, count);
  bool bad = std::ferror(stream) != 0;
  std::fclose(stream);
  if (bad)
    return systemError("read", path);
  return parseSafeTensors(bytes, path, file);
}

/// Where the bytes of `path` go: where a link leads, if it is one. What cannot
/// be looked at is never taken for what it is not.
static Status placeOf(const std::string &path, std::string &place,
                      bool &isDevice) {
  place = path;
  isDevice = false;
  struct stat information;
  if (stat(path.c_str(), &information) != 0)
    return errno == ENOENT ? Status::success() : systemError("write", path);
  if (S_ISDIR(information.st_mode))
    return Status::error(
        fmt::format("cannot write '{}': it is a folder", path));
  isDevice = !S_ISREG(information.st_mode);
  if (isDevice)
    return Status::success();
  std::unique_ptr<char, void (*)(void *)> real(realpath(path.c_str(), nullptr),
                                               &std::free);
  if (!real)
    return systemError("write", path);
  place = real.get();
  return Status::success();
}

Status fovea::runtime::writeSafeTensors(const std::string &path,
                                        const TensorFile &file) {
  std::string place;
  bool isDevice = false;
  if (Status status = placeOf(path, place, isDevice); status.failed())
    return status;
  auto [text, order] = layoutOf(file);
  std::string temporary =
      isDevice ? place : fmt::format("{}.{}.part", place, getpid());
  FILE *stream = nullptr;
  if (isDevice) {
    std::string why;
    int descriptor = openToWriteInto(place, why);
    if (descriptor < 0)
      return Status::error(fmt::format("cannot write '{}': {}", path, why));
    stream = fdopen(descriptor, "ab");
  } else {
    stream = std::fopen(temporary.c_str(), "wb");
  }
  if (!stream)
    return systemError("write", path);
  bool good = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  for (const auto *entry : order) {
    const std::vector<std::byte> &bytes = entry->second.bytes;
    good = good &&
           std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size();
  }
  good = good && std::fflush(stream) == 0 &&
         (isDevice || fsync(fileno(stream)) == 0);
  int error = errno;
  if (std::fclose(stream) != 0 && good) {
    error = errno;
    good = false;
  }
  if (good && !isDevice && std::rename(temporary.c_str(), place.c_str()) != 0) {
    error = errno;
    good = false;
  }
  if (good)
    return Status::success();
  errno = error;
  Status status = systemError("write", path);
  if (!isDevice)
    std::remove(temporary.c_str());
  return status;
}
