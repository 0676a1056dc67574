//===- Tensors.cpp - the tensors of an ONNX file --------------------------===//
//
// A tensor has its elements as bytes, in the file or in another one, or as
// fields of the schema. All its claims are checked against the actual data.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Tensors.h"
#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"
#include "runtime/data/Half.h"
#include "runtime/data/OpenFile.h"

#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

TensorReader::~TensorReader() {
  for (const auto &[name, descriptor] : files)
    close(descriptor);
}

/// Opens a file that the model names. The author of the model must not choose
/// which other files are read: the name must lead below the model's folder,
/// without symbolic links.
int TensorReader::openBeside(const std::string &name, std::string &why) {
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int at = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (size_t begin = 0; at >= 0;) {
    size_t end = name.find('/', begin);
    bool isLast = end == std::string::npos;
    std::string part = name.substr(begin, isLast ? end : end - begin);
    if (part.empty() || part == "." || part == ".." ||
        part.find('\0') != std::string::npos) {
      why = "it must be beside the model or in a folder below it";
      break;
    }
    int next = openat(at, part.c_str(),
                      O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
                          (isLast ? O_RDONLY : O_PATH | O_DIRECTORY));
    if (next < 0)
      why = errno == ELOOP || errno == ENOTDIR
                ? "'" + part + "' is a symbolic link, which is not followed"
                : std::strerror(errno);
    close(std::exchange(at, next));
    begin = end + 1;
    if (!isLast || at < 0)
      continue;
    struct stat status;
    if (fstat(at, &status) == 0 && S_ISREG(status.st_mode))
      return at;
    why = "it is not a regular file";
    break;
  }
  if (at >= 0)
    close(at);
  else if (why.empty())
    why = std::strerror(errno);
  return -1;
}

/// A number of an entry, or nothing if it is not one.
static std::optional<uint64_t> numberOf(const std::string &text) {
  uint64_t number = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number)
                                             : std::nullopt;
}

/// The bytes of an external tensor; the required number if the model omits the
/// size.
Status TensorReader::readExternal(const schema::TensorProto &proto,
                                  uint64_t needed, std::string &bytes) {
  std::string name;
  uint64_t offset = 0, length = needed;
  for (const auto &entry : proto.external_data()) {
    if (entry.key() == "location")
      name = entry.value();
    if (entry.key() != "offset" && entry.key() != "length")
      continue;
    std::optional<uint64_t> number = numberOf(entry.value());
    if (!number)
      return Status::error(fmt::format("'{}' has the {} '{}', which is not a "
                                       "number",
                                       proto.name(), entry.key(),
                                       entry.value()));
    (entry.key() == "offset" ? offset : length) = *number;
  }
  if (length != needed)
    return Status::error(fmt::format("'{}' has {} bytes in '{}', but its shape "
                                     "needs {}",
                                     proto.name(), length, name, needed));
  auto found = files.find(name);
  if (found == files.end()) {
    std::string why;
    int descriptor = openBeside(name, why);
    if (descriptor < 0)
      return Status::error(fmt::format("cannot read '{}', which holds '{}': {}",
                                       name, proto.name(), why));
    found = files.emplace(name, descriptor).first;
  }
  struct stat status;
  uint64_t size = fstat(found->second, &status) == 0
                      ? static_cast<uint64_t>(status.st_size)
                      : 0;
  if (offset > size || length > size - offset)
    return Status::error(fmt::format("'{}' needs {} bytes at {} of '{}', which "
                                     "has {}",
                                     proto.name(), length, offset, name, size));
  bytes.resize(length);
  for (uint64_t done = 0; done < length;) {
    ssize_t count = pread(found->second, bytes.data() + done, length - done,
                          static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    // Another program may have truncated the file meanwhile.
    if (count <= 0)
      return Status::error("cannot read '" + name +
                           "': " + std::strerror(count == 0 ? EIO : errno));
    done += static_cast<uint64_t>(count);
  }
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

/// Takes the elements of a field of the schema if their number is `count`.
template <typename Number, typename Field, typename Convert>
static size_t take(const Field &field, size_t count,
                   std::vector<Number> &numbers, Convert convert) {
  auto given = static_cast<size_t>(field.size());
  if (given == count)
    for (const auto &element : field)
      numbers.push_back(static_cast<Number>(convert(element)));
  return given;
}

/// The same for the one field that the schema has for the type.
template <typename Number>
static size_t takeField(const schema::TensorProto &proto, size_t count,
                        std::vector<Number> &numbers) {
  auto same = [](auto number) { return number; };
  switch (proto.data_type()) {
  case 1:
    return take(proto.float_data(), count, numbers, same);
  case 7:
    return take(proto.int64_data(), count, numbers, same);
  case 10:
    return take(proto.int32_data(), count, numbers,
                [](int32_t bits) { return runtime::halfOf(uint16_t(bits)); });
  case 11:
    return take(proto.double_data(), count, numbers, same);
  case 12:
  case 13:
    return take(proto.uint64_data(), count, numbers, same);
  case 16:
    return take(proto.int32_data(), count, numbers,
                [](int32_t bits) { return runtime::brainOf(uint16_t(bits)); });
  default:
    return take(proto.int32_data(), count, numbers, same);
  }
}

template <typename Number>
Status TensorReader::readNumbers(const schema::TensorProto &proto,
                                 std::vector<Number> &numbers) {
  ElementType type = proto.data_type();
  // The importer has checked that the product is small (Importer.cpp).
  size_t count = 1, width = infoOf(type).bytes;
  for (int64_t size : proto.dims())
    count *= static_cast<size_t>(size);
  bool isExternal = proto.data_location() == 1;
  std::string external;
  if (isExternal)
    if (Status status = readExternal(proto, count * width, external);
        status.failed())
      return status;
  const std::string &bytes = isExternal ? external : proto.raw_data();
  size_t given = bytes.size() / width;
  if (bytes.empty() && !isExternal)
    given = takeField(proto, count, numbers);
  else if (given == count && bytes.size() % width == 0)
    for (size_t i = 0; i < count; ++i)
      numbers.push_back(elementAt<Number>(type, bytes.data(), i));
  if (given != count)
    return Status::error(fmt::format("'{}' has {} elements, but its shape "
                                     "has {}",
                                     proto.name(), given, count));
  if (numbers.size() != count)
    return Status::error(fmt::format("'{}' has {} bytes, but its shape needs "
                                     "{}",
                                     proto.name(), bytes.size(),
                                     count * width));
  return Status::success();
}

Status TensorReader::read(const schema::TensorProto &proto,
                          runtime::Tensor &tensor) {
  std::vector<double> numbers;
  if (Status status = readNumbers(proto, numbers); status.failed())
    return status;
  std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  bool isSingle = proto.data_type() == 1 || proto.data_type() == 10 ||
                  proto.data_type() == 16;
  tensor = runtime::Tensor::of(
      isSingle ? runtime::DType::F32 : runtime::DType::F64, shape, numbers);
  return Status::success();
}

Status TensorReader::readWhole(const schema::TensorProto &proto,
                               std::vector<int64_t> &numbers) {
  return readNumbers(proto, numbers);
}
