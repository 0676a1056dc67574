//===- TensorFiles.cpp - reads and writes files of tensors ----------------===//

#include "runtime/data/OpenFile.h"
#include "runtime/data/ReplaceFile.h"
#include "runtime/data/TensorLayout.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::runtime;

static Status systemError(const char *what, const std::string &path) {
  return Status::error(
      fmt::format("cannot {} '{}': {}", what, path, std::strerror(errno)));
}

/// A training folder means its weights.
static std::string weightsIn(const std::string &path) {
  struct stat information;
  bool isFolder =
      stat(path.c_str(), &information) == 0 && S_ISDIR(information.st_mode);
  if (!isFolder)
    return path;
  return path + (path.ends_with('/') ? "" : "/") + "model.safetensors";
}

/// A file of known size, tensor by tensor.
static Status readFile(int descriptor, int64_t size, const std::string &path,
                       TensorFile &file) {
  auto read = [&](uint64_t offset, void *to, uint64_t count) {
    auto *next = static_cast<char *>(to);
    while (count > 0) {
      errno = 0;
      ssize_t part = throughSignals([&] {
        return pread(descriptor, next, count, static_cast<off_t>(offset));
      });
      if (part <= 0)
        return false;
      next += part, offset += part, count -= part;
    }
    return true;
  };
  return readTensors({static_cast<uint64_t>(size), read}, path, file);
}

/// What a pipe gives, as a whole.
static Status readStream(int descriptor, const std::string &path,
                         TensorFile &file) {
  std::string bytes;
  if (!readAll(descriptor, bytes))
    return Status::error(
        fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  return parseSafeTensors(bytes, path, file);
}

Status fovea::runtime::readSafeTensors(const std::string &given,
                                       TensorFile &file) {
  file = TensorFile();
  std::string path = weightsIn(given), why;
  int descriptor = openToRead(path, why);
  if (descriptor < 0)
    return Status::error(fmt::format("cannot open '{}': {}", path, why));
  struct stat information;
  bool hasSize = fstat(descriptor, &information) == 0 &&
                 S_ISREG(information.st_mode) && information.st_size > 0;
  Status status = hasSize
                      ? readFile(descriptor, information.st_size, path, file)
                      : readStream(descriptor, path, file);
  close(descriptor);
  return status;
}

/// Returns where to write `path`: the target, if it is a link. A failed stat is
/// never mistaken for a missing file.
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

/// Writes all parts of a file in order, until one fails.
template <typename Write>
static bool writeParts(const TensorLayout &layout, Write write) {
  bool good = write(std::string_view(layout.beginning));
  for (const auto *entry : layout.order) {
    const std::vector<std::byte> &bytes = entry->second.bytes;
    good = good &&
           write(std::string_view(reinterpret_cast<const char *>(bytes.data()),
                                  bytes.size()));
  }
  return good;
}

static Status writeIntoDevice(const std::string &path,
                              const TensorLayout &layout) {
  std::string why;
  int descriptor = openToWriteInto(path, why);
  if (descriptor < 0)
    return Status::error(fmt::format("cannot write '{}': {}", path, why));
  FILE *stream = fdopen(descriptor, "ab");
  if (!stream)
    return systemError("write", path);
  bool good = writeParts(layout, [&](std::string_view bytes) {
    return std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size();
  });
  good = good && std::fflush(stream) == 0;
  int error = errno;
  bool isClosed = std::fclose(stream) == 0;
  if (!good)
    errno = error;
  return good && isClosed ? Status::success() : systemError("write", path);
}

Status fovea::runtime::writeSafeTensors(const std::string &path,
                                        const TensorFile &file) {
  std::string place;
  bool isDevice = false;
  if (Status status = placeOf(path, place, isDevice); status.failed())
    return status;
  TensorLayout layout = layoutOf(file);
  if (isDevice)
    return writeIntoDevice(place, layout);
  ReplaceFile replacement;
  bool good = replacement.open(place) &&
              writeParts(layout,
                         [&](std::string_view bytes) {
                           return replacement.write(bytes);
                         }) &&
              replacement.finish();
  return good ? Status::success() : systemError("write", path);
}
