//===- Tensors.cpp - the tensors of an ONNX file --------------------------===//
//
// A tensor has its elements as bytes, in the file or in another one, or as
// fields of the schema. What it says is checked against what is there.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Tensors.h"
#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"
#include "runtime/data/Half.h"
#include "runtime/data/OpenFile.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::onnx;
using runtime::Status;

namespace {
struct TypeInfo {
  const char *name;
  size_t bytes; // 0: not supported
  Kind kind;
};
} // namespace

static TypeInfo infoOf(ElementType type) {
  static constexpr TypeInfo types[] = {
      {"nothing", 0, Kind::Real},   {"float", 4, Kind::Real},
      {"uint8", 1, Kind::Int},      {"int8", 1, Kind::Int},
      {"uint16", 2, Kind::Int},     {"int16", 2, Kind::Int},
      {"int32", 4, Kind::Int},      {"int64", 8, Kind::Int},
      {"string", 0, Kind::Real},    {"bool", 1, Kind::Bit},
      {"float16", 2, Kind::Real},   {"double", 8, Kind::Real},
      {"uint32", 4, Kind::Int},     {"uint64", 8, Kind::Int},
      {"complex64", 0, Kind::Real}, {"complex128", 0, Kind::Real},
      {"bfloat16", 2, Kind::Real}};
  if (type >= 0 && type < static_cast<int>(std::size(types)))
    return types[type];
  return {"numbers of 8 bits or less", 0, Kind::Real};
}

std::optional<Kind> fovea::onnx::kindOf(ElementType type) {
  TypeInfo info = infoOf(type);
  return info.bytes == 0 ? std::nullopt : std::optional<Kind>(info.kind);
}

bool fovea::onnx::isUnsigned(ElementType type) {
  return infoOf(type).name[0] == 'u';
}

std::string fovea::onnx::typeName(ElementType type) {
  return infoOf(type).name;
}

Status fovea::onnx::readFile(const std::string &path, std::string &bytes) {
  std::string why;
  int descriptor = runtime::openToRead(path, why);
  if (descriptor < 0)
    return Status::error("cannot read '" + path + "': " + why);
  char part[1 << 16];
  ssize_t count = 0;
  while ((count = ::read(descriptor, part, sizeof(part))) > 0)
    bytes.append(part, static_cast<size_t>(count));
  int problem = errno;
  close(descriptor);
  if (count < 0)
    return Status::error("cannot read '" + path +
                         "': " + std::strerror(problem));
  return Status::success();
}

/// The bytes that a tensor names in a file beside the model.
static Status readExternal(const schema::TensorProto &proto,
                           const std::string &path, std::string &bytes) {
  std::string file;
  uint64_t offset = 0, length = UINT64_MAX;
  for (const auto &entry : proto.external_data()) {
    if (entry.key() == "location")
      file = entry.value();
    if (entry.key() == "offset")
      offset = std::strtoull(entry.value().c_str(), nullptr, 10);
    if (entry.key() == "length")
      length = std::strtoull(entry.value().c_str(), nullptr, 10);
  }
  // What a file names stays in its folder.
  if (file.empty() || file[0] == '/' || file.find("..") != std::string::npos)
    return Status::error(fmt::format("'{}' lies in '{}', which is not "
                                     "beside the model",
                                     proto.name(), file));
  size_t slash = path.rfind('/');
  std::string whole;
  if (slash != std::string::npos)
    file = path.substr(0, slash + 1) + file;
  if (Status status = readFile(file, whole); status.failed())
    return status;
  bytes = offset > whole.size() ? "" : whole.substr(offset, length);
  return Status::success();
}

template <typename T> static T loadOf(const char *at) {
  T number;
  std::memcpy(&number, at, sizeof(T));
  return number;
}

/// Element `i` of bytes.
template <typename Number>
static Number elementAt(ElementType type, const char *bytes, size_t i) {
  const char *at = bytes + i * infoOf(type).bytes;
  switch (type) {
  case 1:
    return static_cast<Number>(loadOf<float>(at));
  case 2:
  case 9:
    return static_cast<Number>(loadOf<uint8_t>(at));
  case 3:
    return static_cast<Number>(loadOf<int8_t>(at));
  case 4:
    return static_cast<Number>(loadOf<uint16_t>(at));
  case 5:
    return static_cast<Number>(loadOf<int16_t>(at));
  case 6:
    return static_cast<Number>(loadOf<int32_t>(at));
  case 7:
  case 13:
    return static_cast<Number>(loadOf<int64_t>(at));
  case 10:
    return static_cast<Number>(runtime::halfOf(loadOf<uint16_t>(at)));
  case 11:
    return static_cast<Number>(loadOf<double>(at));
  case 12:
    return static_cast<Number>(loadOf<uint32_t>(at));
  default:
    return static_cast<Number>(runtime::brainOf(loadOf<uint16_t>(at)));
  }
}

template <typename Number>
static Status readNumbers(const schema::TensorProto &proto,
                          const std::string &path,
                          std::vector<Number> &numbers) {
  ElementType type = proto.data_type();
  size_t count = 1;
  for (int64_t size : proto.dims())
    count *= static_cast<size_t>(size);
  std::string external;
  if (proto.data_location() == 1)
    if (Status status = readExternal(proto, path, external); status.failed())
      return status;
  const std::string &bytes =
      proto.data_location() == 1 ? external : proto.raw_data();
  size_t given = bytes.size() / std::max<size_t>(infoOf(type).bytes, 1);
  auto take = [&](const auto &field, auto convert) {
    given = static_cast<size_t>(field.size());
    if (given == count)
      for (const auto &element : field)
        numbers.push_back(static_cast<Number>(convert(element)));
  };
  auto same = [](auto number) { return number; };
  if (!bytes.empty()) {
    if (given == count)
      for (size_t i = 0; i < count; ++i)
        numbers.push_back(elementAt<Number>(type, bytes.data(), i));
  } else if (proto.int32_data_size() > 0 && (type == 10 || type == 16)) {
    take(proto.int32_data(), [&](int32_t bits) {
      return type == 10 ? runtime::halfOf(uint16_t(bits))
                        : runtime::brainOf(uint16_t(bits));
    });
  } else if (proto.float_data_size() > 0) {
    take(proto.float_data(), same);
  } else if (proto.int32_data_size() > 0) {
    take(proto.int32_data(), same);
  } else if (proto.int64_data_size() > 0) {
    take(proto.int64_data(), same);
  } else if (proto.double_data_size() > 0) {
    take(proto.double_data(), same);
  } else {
    take(proto.uint64_data(), same);
  }
  if (given == count)
    return Status::success();
  return Status::error(fmt::format("'{}' has {} elements, but its shape "
                                   "has {}",
                                   proto.name(), given, count));
}

Status fovea::onnx::readTensor(const schema::TensorProto &proto,
                               const std::string &path,
                               runtime::Tensor &tensor) {
  std::vector<double> numbers;
  if (Status status = readNumbers(proto, path, numbers); status.failed())
    return status;
  std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  bool isSingle = proto.data_type() == 1 || proto.data_type() == 10 ||
                  proto.data_type() == 16;
  tensor = runtime::Tensor::of(
      isSingle ? runtime::DType::F32 : runtime::DType::F64, shape, numbers);
  return Status::success();
}

Status fovea::onnx::readWhole(const schema::TensorProto &proto,
                              const std::string &path,
                              std::vector<int64_t> &numbers) {
  return readNumbers(proto, path, numbers);
}
