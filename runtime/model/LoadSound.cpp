//===- LoadSound.cpp - a sound as the data of a program -------------------===//

#include "runtime/model/LoadSound.h"
#include "runtime/data/OpenFile.h"
#include "runtime/data/WaveFile.h"

#include <cassert>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

using namespace fovea::runtime;

static Status readBytes(const std::string &path, std::string &bytes) {
  std::string why;
  int descriptor = openToRead(path, why);
  if (descriptor < 0)
    return Status::error(fmt::format("cannot read '{}': {}", path, why));
  char chunk[1 << 16];
  ssize_t count = 1;
  while ((count = read(descriptor, chunk, sizeof(chunk))) > 0)
    bytes.append(chunk, count);
  if (count < 0)
    why = std::strerror(errno);
  close(descriptor);
  if (count < 0)
    return Status::error(fmt::format("cannot read '{}': {}", path, why));
  return Status::success();
}

Status fovea::runtime::loadSound(const std::string &path,
                                 const DataDescription &data,
                                 DataValues &values, Lengths &lengths) {
  std::string bytes;
  std::vector<double> samples;
  Status status = readBytes(path, bytes);
  if (status.succeeded())
    status = readWave(bytes, path, data.sound.rate, samples);
  if (status.failed())
    return status;
  values.values = framesOf(samples, data.sound);
  int64_t width = data.sound.width();
  int64_t count = static_cast<int64_t>(values.values.size()) / width;
  const std::vector<DataAxis> &axes = data.spec.axes;
  assert(axes.size() == 2 && axes[1].size == width && !axes[0].length.empty() &&
         "the front end has checked what the data are");
  values.shape = {count, width};
  lengths[axes[0].length] = LengthValues::of(count);
  return Status::success();
}
