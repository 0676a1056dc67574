//===- FileData.cpp - pictures, sounds and arrays as data -----------------===//

#include "app/data/FileData.h"
#include "app/data/Npy.h"
#include "app/data/Pixels.h"
#include "app/data/Sound.h"
#include "runtime/data/ArkFile.h"
#include "runtime/data/OpenFile.h"
#include "runtime/data/Resample.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::DType;
using runtime::PixelAxes;
using runtime::PixelOptions;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static bool endsAs(StringRef name, llvm::ArrayRef<StringRef> endings) {
  return llvm::any_of(endings, [&](StringRef ending) {
    return name.ends_with_insensitive(ending);
  });
}

static bool isPicture(StringRef name) {
  return endsAs(name, {".png", ".jpg", ".jpeg"});
}

static bool isSound(StringRef name) {
  return endsAs(name, {".wav", ".flac", ".ogg", ".opus", ".mp3"});
}

/// Splits `FILE.ark:PLACE`; false if `name` has another form.
static bool splitPlace(StringRef name, StringRef &file, uint64_t &place) {
  StringRef number;
  std::tie(file, number) = name.rsplit(':');
  return file.ends_with(".ark") && !number.getAsInteger(10, place);
}

bool fovea::cli::isDataFile(StringRef name) {
  StringRef file;
  uint64_t place = 0;
  return isPicture(name) || isSound(name) || name.ends_with(".npy") ||
         splitPlace(name, file, place);
}

Status fovea::cli::listFiles(const std::string &path,
                             std::vector<std::string> &files) {
  if (!llvm::sys::fs::is_directory(path)) {
    files.push_back(path);
    return Status::success();
  }
  std::error_code failure;
  for (llvm::sys::fs::directory_iterator file(path, failure), end;
       file != end && !failure; file.increment(failure)) {
    StringRef name = llvm::sys::path::filename(file->path());
    if (name.starts_with("."))
      continue;
    if (!isDataFile(name))
      return Status::error(fmt::format(
          "unsupported file type of '{}'; expected a picture "
          "(.png, .jpg), a sound (.wav, .flac, .ogg, .opus, .mp3) or "
          "an array (.npy){}",
          file->path(),
          endsAs(name, {".parquet", ".arrow"})
              ? "; help: Python reads this folder: model.fit('" + path + "')"
              : ""));
    files.push_back(file->path());
  }
  if (failure)
    return Status::error(
        fmt::format("cannot read '{}': {}", path, failure.message()));
  if (files.empty())
    return Status::error("the folder '" + path + "' is empty");
  llvm::sort(files);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// One example
//===----------------------------------------------------------------------===//

namespace {

/// Reads the files of one data name.
class FileReader {
public:
  FileReader(const DataInfo &data, const runtime::DataSpec &spec)
      : data(data), spec(spec) {}

  Status load(const std::string &path, LoadedValues &result);
  Status read(const std::string &path, const std::string &bytes,
              LoadedValues &result);
  Status takeFeatures(const std::string &path,
                      const std::vector<int64_t> &shape,
                      std::vector<double> values, LoadedValues &result);

private:
  Status checkKind(const std::string &path) const;
  Status readPixels(const std::string &path, const std::string &bytes,
                    LoadedValues &result);
  Status readFrames(const std::string &path, const std::string &bytes,
                    LoadedValues &result);
  Status readArray(const std::string &path, const std::string &bytes,
                   LoadedValues &result);
  Status setShape(const std::string &path, const std::vector<int64_t> &shape,
                  LoadedValues &result);
  Status mistake(const std::string &path, const std::string &text) const {
    return Status::error(fmt::format("'{}' {}", path, text));
  }

  const DataInfo &data;
  const runtime::DataSpec &spec;
};

} // namespace

static Status readBytes(const std::string &path, std::string &bytes) {
  std::string why;
  return runtime::readWhole(path, bytes, why)
             ? Status::success()
             : Status::error(fmt::format("cannot read '{}': {}", path, why));
}

/// Takes the extents of a file's content, if they match those of the data.
Status FileReader::setShape(const std::string &path,
                            const std::vector<int64_t> &shape,
                            LoadedValues &result) {
  auto wanted = [&] {
    std::string text;
    for (const runtime::DataAxis &axis : spec.axes)
      text += (text.empty() ? "" : ", ") +
              (axis.length.empty() ? std::to_string(axis.size) : axis.length);
    return "[" + text + "]";
  };
  auto differs = [&] {
    return mistake(path,
                   fmt::format("is {} but '{}' is {}",
                               runtime::shapeText(shape), data.name, wanted()));
  };
  if (shape.size() != spec.axes.size())
    return differs();
  for (auto [extent, axis] : llvm::zip(shape, spec.axes)) {
    if (axis.length.empty() ? extent != axis.size : extent < 1)
      return differs();
    if (!axis.parent.empty())
      return mistake(path, "has rows of one length, but the rows of '" +
                               data.name + "' differ in length");
    if (axis.length.empty())
      continue;
    auto [known, isNew] = result.lengths.try_emplace(
        axis.length, runtime::LengthValues::of(extent));
    if (!isNew && known->second.values.front() != extent)
      return differs();
  }
  result.values.shape = shape;
  return Status::success();
}

static PixelOptions optionsOf(const DataInfo &data) {
  return PixelOptions::from(data.loader.numbers, data.kind == DataInfo::Bit);
}

Status FileReader::readPixels(const std::string &path, const std::string &bytes,
                              LoadedValues &result) {
  PixelAxes axes(spec);
  if (data.loader.kind == "sound")
    return mistake(path,
                   "is a picture, but '" + data.name + "' comes from sound");
  if (axes.channels == 0 || axes.isFilm)
    return mistake(path, fmt::format("is a picture, but '{}' is not declared "
                                     "as '[Y, X] : real(3)' or '[Y, X] : real'",
                                     data.name));
  runtime::Picture picture;
  auto setSize = [&](int64_t rows, int64_t columns) {
    return setShape(path, axes.shapeOf(rows, columns), result);
  };
  PixelOptions options = optionsOf(data);
  runtime::TakeSize take =
      options.resize ? runtime::checkResizable(path) : setSize;
  if (Status status = readPicture(bytes, path, axes.channels, take, picture);
      status.failed())
    return status;
  if (options.resize) {
    picture.resizeTo(axes.rows, axes.columns);
    if (Status status = setSize(axes.rows, axes.columns); status.failed())
      return status;
  }
  result.values.values = options.valuesOf(picture, axes);
  return Status::success();
}

Status FileReader::readFrames(const std::string &path, const std::string &bytes,
                              LoadedValues &result) {
  const FileLoader &loader = data.loader;
  if (loader.kind != "sound")
    return mistake(path,
                   fmt::format("is a sound; help: declare how '{}' is computed "
                               "from it: 'real(123) from sound(rate = 16000)'",
                               data.name));
  runtime::SoundOptions options = runtime::SoundOptions::from(loader.numbers);
  int64_t rate = 0;
  std::vector<double> samples;
  Status status = readSound(bytes, path, rate, samples);
  if (status.succeeded())
    status = runtime::resample(path, rate, options, samples);
  if (status.failed())
    return status;
  result.values.values = runtime::framesOf(samples, options);
  int64_t count = result.values.values.size() / options.width();
  return setShape(path, {count, options.width()}, result);
}

static Status fit(const std::string &path, const DataInfo &data,
                  runtime::Tensor &tensor, int64_t channels, bool areFirst,
                  int64_t numPixels) {
  bool isBytes = data.loader.kind == "pixels" && tensor.type == DType::U8;
  if (data.kind == DataInfo::Bit && tensor.isReal())
    return Status::error(fmt::format("'{}' is {} but '{}' is bits", path,
                                     runtime::nameOf(tensor.type), data.name));
  if (tensor.isReal() || (data.kind != DataInfo::Real && !isBytes))
    return Status::success();
  std::vector<double> values = tensor.toDoubles();
  PixelOptions options = optionsOf(data);
  for (size_t i = 0; isBytes && i < values.size(); ++i) {
    int64_t channel =
        areFirst ? int64_t(i) / numPixels % channels : int64_t(i) % channels;
    values[i] = options.valueOf(channel, uint8_t(values[i]));
  }
  tensor =
      runtime::Tensor::of(data.kind == DataInfo::Real ? DType::F64 : DType::I64,
                          tensor.shape, values);
  return Status::success();
}

Status fovea::cli::fitArray(const std::string &path, const DataInfo &data,
                            const runtime::DataSpec &spec,
                            runtime::Tensor &tensor) {
  PixelAxes axes(spec);
  int64_t numPixels = 1;
  if (size_t rank = tensor.shape.size(); axes.areFirst && rank >= 2)
    numPixels =
        std::max<int64_t>(1, tensor.shape[rank - 2] * tensor.shape[rank - 1]);
  return fit(path, data, tensor, std::max<int64_t>(1, axes.channels),
             axes.areFirst, numPixels);
}

Status FileReader::readArray(const std::string &path, const std::string &bytes,
                             LoadedValues &result) {
  runtime::Tensor tensor;
  Status status = parseNpy(bytes, path, tensor);
  if (status.succeeded())
    status = setShape(path, tensor.shape, result);
  if (status.succeeded())
    status = fitArray(path, data, spec, tensor);
  if (status.failed())
    return status;
  if (data.kind != DataInfo::Real && tensor.isReal())
    return mistake(path, fmt::format("is {} but '{}' is whole numbers",
                                     runtime::nameOf(tensor.type), data.name));
  result.values.values = tensor.toDoubles();
  for (double value : result.values.values)
    if (!std::isfinite(value))
      return mistake(path, fmt::format("has the value {}", value));
  return Status::success();
}

Status FileReader::takeFeatures(const std::string &path,
                                const std::vector<int64_t> &shape,
                                std::vector<double> values,
                                LoadedValues &result) {
  Status status = checkKind(path);
  if (status.succeeded() && data.kind != DataInfo::Real)
    status = mistake(path, "has features, but '" + data.name + "' is bits");
  if (status.succeeded())
    status = setShape(path, shape, result);
  result.values.values = std::move(values);
  return status;
}

Status FileReader::checkKind(const std::string &path) const {
  if (data.kind == DataInfo::Real || data.kind == DataInfo::Bit)
    return Status::success();
  return mistake(path, "contains numbers, but '" + data.name +
                           "' is declared neither 'real' nor 'bit'");
}

Status FileReader::read(const std::string &path, const std::string &bytes,
                        LoadedValues &result) {
  if (Status status = checkKind(path); status.failed())
    return status;
  if (isPicture(path))
    return readPixels(path, bytes, result);
  return isSound(path) ? readFrames(path, bytes, result)
                       : readArray(path, bytes, result);
}

Status FileReader::load(const std::string &path, LoadedValues &result) {
  StringRef file;
  if (uint64_t place = 0; splitPlace(path, file, place)) {
    std::unique_ptr<runtime::ArkFile> archive;
    std::vector<int64_t> shape;
    std::vector<double> values;
    Status status = runtime::ArkFile::open(file.str(), archive);
    if (status.succeeded())
      status = archive->seek(place);
    if (status.succeeded())
      status = archive->read(shape, values);
    return status.failed()
               ? status
               : takeFeatures(path, shape, std::move(values), result);
  }
  std::string bytes;
  Status status = checkKind(path);
  if (status.succeeded())
    status = readBytes(path, bytes);
  return status.failed() ? status : read(path, bytes, result);
}

Status fovea::cli::loadFile(const std::string &path, const DataInfo &data,
                            const runtime::DataSpec &spec,
                            LoadedValues &result) {
  return FileReader(data, spec).load(path, result);
}

Status fovea::cli::loadBytes(const std::string &path, const std::string &bytes,
                             const DataInfo &data,
                             const runtime::DataSpec &spec,
                             LoadedValues &result) {
  return FileReader(data, spec).read(path, bytes, result);
}

Status fovea::cli::loadFeatures(const std::string &path,
                                const std::vector<int64_t> &shape,
                                std::vector<double> values,
                                const DataInfo &data,
                                const runtime::DataSpec &spec,
                                LoadedValues &result) {
  return FileReader(data, spec)
      .takeFeatures(path, shape, std::move(values), result);
}
