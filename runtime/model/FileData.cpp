//===- FileData.cpp - the bytes of a file as the data of a model ----------===//

#include "runtime/model/FileData.h"
#include "runtime/data/FlacFile.h"
#include "runtime/data/PngFile.h"
#include "runtime/data/Resample.h"
#include "runtime/data/SafeTensors.h"
#include "runtime/data/WaveFile.h"

#include <cassert>
#include <fmt/format.h>

using namespace fovea::runtime;

static Status readSound(const std::string &bytes, const std::string &path,
                        const DataDescription &data, DataValues &values,
                        Lengths &lengths) {
  int64_t rate = 0;
  std::vector<double> samples;
  auto read = bytes.starts_with("fLaC") ? readFlac : readWave;
  if (Status status = read(bytes, path, rate, samples); status.failed())
    return status;
  if (Status status = resample(path, rate, data.sound, samples);
      status.failed())
    return status;
  if (samples.empty())
    return Status::error(
        fmt::format("cannot read the sound '{}': it has 0 samples", path));
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

/// Takes the extents of a picture, if they match those of the data.
static Status setShape(const std::string &path, const DataDescription &data,
                       const std::vector<int64_t> &shape, DataValues &values,
                       Lengths &lengths) {
  const std::vector<DataAxis> &axes = data.spec.axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    bool isGood = axes[i].size == shape[i];
    if (const std::string &name = axes[i].length; !name.empty())
      isGood = lengths.try_emplace(name, LengthValues::of(shape[i]))
                   .first->second.values.front() == shape[i];
    if (isGood)
      continue;
    std::string wanted;
    for (const DataAxis &axis : axes)
      wanted += (wanted.empty() ? "" : ", ") +
                (axis.length.empty() ? std::to_string(axis.size) : axis.length);
    return Status::error(fmt::format("'{}' is {} but '{}' is [{}]", path,
                                     shapeText(shape), data.spec.name, wanted));
  }
  values.shape = shape;
  return Status::success();
}

static Status readPicture(const std::string &bytes, const std::string &path,
                          const DataDescription &data, DataValues &values,
                          Lengths &lengths) {
  PixelAxes axes(data.spec);
  Picture picture;
  auto setSize = [&](int64_t rows, int64_t columns) {
    return setShape(path, data, axes.shapeOf(rows, columns), values, lengths);
  };
  bool resize = data.pixels.resize;
  TakeSize take = resize ? checkResizable(path) : setSize;
  if (Status status = readPng(bytes, path, take, picture); status.failed())
    return status;
  picture.convertTo(axes.channels);
  if (resize) {
    picture.resizeTo(axes.rows, axes.columns);
    if (Status status = setSize(axes.rows, axes.columns); status.failed())
      return status;
  }
  values.values = data.pixels.valuesOf(picture, axes);
  return Status::success();
}

Status fovea::runtime::readFileData(const std::string &bytes,
                                    const std::string &path,
                                    const DataDescription &data,
                                    DataValues &values, Lengths &lengths) {
  return data.isSound ? readSound(bytes, path, data, values, lengths)
                      : readPicture(bytes, path, data, values, lengths);
}
