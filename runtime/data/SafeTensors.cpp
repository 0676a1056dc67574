//===- SafeTensors.cpp - named tensors from bytes, and as bytes -----------===//
//
// Parses the header event by event, not as a tree: a tree would hide duplicate
// names, and the file would control its depth.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/SafeTensors.h"
#include "runtime/data/Quantise.h"
#include "runtime/data/TensorLayout.h"
#include "runtime/data/TensorSeal.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <set>

using namespace fovea::runtime;

/// The longest header that the format allows.
static constexpr uint64_t longestHeader = 100'000'000;

static constexpr struct {
  DType type;
  std::string_view name;
  size_t size;
} types[] = {{DType::F64, "F64", 8},   {DType::F32, "F32", 4},
             {DType::BF16, "BF16", 2}, {DType::I64, "I64", 8},
             {DType::I32, "I32", 4},   {DType::I16, "I16", 2},
             {DType::I8, "I8", 1},     {DType::U64, "U64", 8},
             {DType::U32, "U32", 4},   {DType::U16, "U16", 2},
             {DType::U8, "U8", 1},     {DType::Bool, "BOOL", 1},
             {DType::F16, "F16", 2},   {DType::F8E4M3, "F8_E4M3", 1}};

std::string_view fovea::runtime::nameOf(DType type) {
  for (const auto &entry : types)
    if (entry.type == type)
      return entry.name;
  return "";
}

size_t fovea::runtime::sizeOf(DType type) {
  for (const auto &entry : types)
    if (entry.type == type)
      return entry.size;
  return 0;
}

std::string fovea::runtime::shapeText(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

int64_t Tensor::numElements() const {
  // An extent of 0 may stand beside extents whose product overflows.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

template <typename T> static T load(const std::byte *bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

/// An element of a type of rounded numbers.
static float roundedAt(const StorageFormat &format, const std::byte *data,
                       int64_t i) {
  uint32_t bits = 0;
  std::memcpy(&bits, data + i * format.bytes, format.bytes);
  return numberOf(format, bits);
}

template <typename T>
static void save(std::vector<std::byte> &bytes, int64_t i, double value) {
  auto stored = static_cast<T>(value);
  std::memcpy(bytes.data() + i * sizeof(T), &stored, sizeof(T));
}

double fovea::runtime::elementOf(DType type, const std::byte *data, int64_t i) {
  switch (type) {
  case DType::F64:
    return load<double>(data, i);
  case DType::F32:
    return load<float>(data, i);
  case DType::BF16:
  case DType::F16:
  case DType::F8E4M3:
    return roundedAt(*roundedFormat(type), data, i);
  case DType::I64:
    return static_cast<double>(load<int64_t>(data, i));
  case DType::I32:
    return load<int32_t>(data, i);
  case DType::I16:
    return load<int16_t>(data, i);
  case DType::I8:
    return load<int8_t>(data, i);
  case DType::U64:
    return static_cast<double>(load<uint64_t>(data, i));
  case DType::U32:
    return load<uint32_t>(data, i);
  case DType::U16:
    return load<uint16_t>(data, i);
  case DType::U8:
    return load<uint8_t>(data, i);
  case DType::Bool:
    return load<uint8_t>(data, i) != 0;
  }
  return 0;
}

std::vector<double> Tensor::toDoubles() const {
  std::vector<double> values(numElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = at(i);
  return values;
}

Tensor Tensor::of(DType type, std::vector<int64_t> shape,
                  const std::vector<double> &values) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(values.size() * sizeOf(type));
  for (size_t i = 0; i < values.size(); ++i) {
    double value = values[i];
    std::vector<std::byte> &bytes = tensor.bytes;
    switch (type) {
    case DType::F64:
      save<double>(bytes, i, value);
      break;
    case DType::F32:
      save<float>(bytes, i, value);
      break;
    case DType::BF16:
    case DType::F16:
    case DType::F8E4M3: {
      const StorageFormat &format = *roundedFormat(type);
      uint32_t number = bitsOf(format, static_cast<float>(value));
      std::memcpy(bytes.data() + i * format.bytes, &number, format.bytes);
      break;
    }
    case DType::I64:
      save<int64_t>(bytes, i, value);
      break;
    case DType::I32:
      save<int32_t>(bytes, i, value);
      break;
    case DType::I16:
      save<int16_t>(bytes, i, value);
      break;
    case DType::I8:
      save<int8_t>(bytes, i, value);
      break;
    case DType::U64:
      save<uint64_t>(bytes, i, value);
      break;
    case DType::U32:
      save<uint32_t>(bytes, i, value);
      break;
    case DType::U16:
      save<uint16_t>(bytes, i, value);
      break;
    case DType::U8:
      save<uint8_t>(bytes, i, value);
      break;
    case DType::Bool:
      save<uint8_t>(bytes, i, value != 0);
      break;
    }
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// The header's entry for one tensor.
struct TensorHeader {
  std::string name;
  std::optional<std::string> type;
  std::optional<std::vector<uint64_t>> shape, offsets;
};

/// Receives the header as JSON events. Accepts only the shape {name: {dtype:
/// text, shape: [numbers], data_offsets: [begin, end]}} and {"__metadata__":
/// {key: text}}.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
  std::vector<TensorHeader> tensors;
  std::map<std::string, std::string> metadata;
  std::string problem;

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_integer(number_integer_t) override {
    return refuse("a negative number");
  }
  bool number_float(number_float_t, const string_t &) override {
    return refuse("a fraction or a number beyond 2^64");
  }
  bool binary(binary_t &) override { return refuse("bytes"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!list)
      return refuse("a number");
    list->push_back(value);
    return true;
  }
  bool string(string_t &value) override {
    if (depth == 2 && inMetadata)
      metadata[keyName] = value;
    else if (depth == 2 && keyName == "dtype")
      tensors.back().type = value;
    else
      return refuse("a text");
    return true;
  }
  bool start_object(size_t) override {
    if (list || depth >= 2)
      return refuse("an object");
    ++depth;
    if (depth == 2) {
      keys.clear();
      inMetadata = keyName == "__metadata__";
      if (!inMetadata)
        tensors.push_back({keyName, {}, {}, {}});
    }
    return true;
  }
  bool end_object() override {
    --depth;
    return true;
  }
  bool key(string_t &value) override {
    std::set<std::string> &known = depth == 1 ? names : keys;
    if (!known.insert(value).second)
      return fail(depth == 1
                      ? fmt::format("'{}' appears twice in the header", value)
                      : fmt::format("'{}' has '{}' twice", subject(), value));
    if (depth == 2 && !inMetadata && value != "dtype" && value != "shape" &&
        value != "data_offsets")
      return fail(
          fmt::format("'{}' has an unknown entry '{}'", subject(), value));
    keyName = value;
    return true;
  }
  bool start_array(size_t) override {
    if (depth != 2 || list || inMetadata ||
        (keyName != "shape" && keyName != "data_offsets"))
      return refuse("a list");
    list.emplace();
    return true;
  }
  bool end_array() override {
    (keyName == "shape" ? tensors.back().shape : tensors.back().offsets) =
        std::move(*list);
    list.reset();
    return true;
  }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::json::exception &) override {
    // Its first eight bytes are the length of the header.
    return fail(fmt::format(
        "the file is damaged: its header is not JSON at byte {} of the file; "
        "help: use another copy of it",
        position + 7));
  }

private:
  std::string subject() const {
    return tensors.empty() || depth < 2 ? keyName : tensors.back().name;
  }
  bool refuse(std::string_view what) {
    if (depth == 0)
      return fail(fmt::format("the header is {}, not an object", what));
    return fail(
        fmt::format("'{}' has {} in an unexpected place", subject(), what));
  }
  bool fail(std::string text) {
    if (problem.empty())
      problem = std::move(text);
    return false;
  }

  int depth = 0;
  bool inMetadata = false;
  std::string keyName;
  std::set<std::string> names, keys;
  std::optional<std::vector<uint64_t>> list;
};
} // namespace

static Status unreadable() {
  return Status::error(
      fmt::format("it cannot be read: {}",
                  errno == 0 ? "it has become shorter" : std::strerror(errno)));
}

/// Checks a tensor's header entry against the bytes from `first` on, and takes
/// those of the tensor.
static Status takeTensor(const TensorHeader &description,
                         const TensorSource &source, uint64_t first,
                         Tensor &tensor) {
  uint64_t available = source.size - first;
  const std::string &name = description.name;
  if (!description.type || !description.shape || !description.offsets)
    return Status::error(fmt::format("'{}' has no '{}'", name,
                                     !description.type    ? "dtype"
                                     : !description.shape ? "shape"
                                                          : "data_offsets"));
  const auto *entry =
      std::find_if(std::begin(types), std::end(types), [&](const auto &known) {
        return known.name == *description.type;
      });
  if (entry == std::end(types))
    return Status::error(fmt::format("'{}' has the unknown dtype '{}'", name,
                                     *description.type));
  if (description.offsets->size() != 2)
    return Status::error(fmt::format("'{}' has {} data offsets, not 2", name,
                                     description.offsets->size()));
  uint64_t begin = (*description.offsets)[0], end = (*description.offsets)[1];
  if (begin > end || end > available)
    return Status::error(
        fmt::format("'{}' occupies bytes {} to {}, but the file has {}", name,
                    begin, end, available));
  // An extent of 0 makes the others harmless, but they must still be numbers.
  uint64_t bytes = entry->size;
  bool isEmpty = std::find(description.shape->begin(), description.shape->end(),
                           0) != description.shape->end();
  for (uint64_t extent : *description.shape) {
    if (extent > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
        (!isEmpty && bytes > available / extent))
      return Status::error(
          fmt::format("'{}' has extents [{}], more than the file has bytes",
                      name, fmt::join(*description.shape, ", ")));
    bytes = isEmpty ? 0 : bytes * extent;
    tensor.shape.push_back(static_cast<int64_t>(extent));
  }
  if (bytes != end - begin)
    return Status::error(fmt::format(
        "'{}' has extents [{}] of {}, {} bytes, but occupies {} bytes", name,
        fmt::join(*description.shape, ", "), *description.type, bytes,
        end - begin));
  tensor.bytes.resize(bytes);
  if (!source.read(first + begin, tensor.bytes.data(), bytes))
    return unreadable();
  tensor.type = entry->type;
  return Status::success();
}

/// Files store rounded numbers, which no reader of tensors has to know, but for
/// those of parameters in fewer bits.
static void widenRounded(TensorFile &file) {
  for (auto &[name, tensor] : file.tensors) {
    const StorageFormat *format = roundedFormat(tensor.type);
    if (!format || isNarrow(name))
      continue;
    Tensor wide = {DType::F32, tensor.shape, {}};
    wide.bytes.resize(tensor.bytes.size() / format->bytes * sizeof(float));
    for (size_t i = 0; i < wide.bytes.size() / sizeof(float); ++i) {
      float value = roundedAt(*format, tensor.bytes.data(), i);
      std::memcpy(wide.bytes.data() + i * sizeof(float), &value, sizeof(value));
    }
    tensor = std::move(wide);
  }
}

/// No two tensors share a byte, and no byte is unused.
static Status checkPlaces(const std::vector<TensorHeader> &tensors,
                          uint64_t available) {
  std::vector<const TensorHeader *> order;
  for (const TensorHeader &tensor : tensors)
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
    return *a->offsets < *b->offsets;
  });
  uint64_t last = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    uint64_t begin = (*order[i]->offsets)[0];
    if (begin < last)
      return Status::error(fmt::format("'{}' and '{}' overlap",
                                       order[i - 1]->name, order[i]->name));
    if (begin > last)
      return Status::error(
          fmt::format("no tensor has the bytes {} to {} before '{}'", last,
                      begin, order[i]->name));
    last = (*order[i]->offsets)[1];
  }
  if (last != available)
    return Status::error(
        fmt::format("no tensor has the bytes after {}, but the file has {}",
                    last, available));
  return Status::success();
}

static Status parse(const TensorSource &source, TensorFile &file) {
  if (source.size < 8)
    return Status::error(fmt::format(
        "a header needs 8 bytes for its length, but the file has {}",
        source.size));
  std::array<char, 8> bytes;
  if (!source.read(0, bytes.data(), bytes.size()))
    return unreadable();
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  bool isText = std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r';
  });
  if (length > source.size - 8 && isText)
    return Status::error("expected a safetensors file, found text");
  if (length > source.size - 8)
    return Status::error(
        fmt::format("the file is cut off or damaged: it says that its header "
                    "has {} bytes, but only {} follow; help: use another copy "
                    "of it",
                    length, source.size - 8));
  if (length > longestHeader)
    return Status::error(fmt::format("the header is {} bytes long, over {}",
                                     length, longestHeader));
  HeaderReader reader;
  std::string header(length, '\0');
  if (!source.read(8, header.data(), length))
    return unreadable();
  if (!nlohmann::json::sax_parse(header.begin(), header.end(), &reader))
    return Status::error(reader.problem);
  uint64_t first = 8 + length, available = source.size - first;
  // Check offsets first: overlapping tensors could request any amount of
  // memory.
  for (const TensorHeader &description : reader.tensors)
    if (!description.offsets || description.offsets->size() != 2 ||
        (*description.offsets)[0] > (*description.offsets)[1] ||
        (*description.offsets)[1] > available) {
      Tensor tensor;
      return takeTensor(description, source, first, tensor);
    }
  if (Status status = checkPlaces(reader.tensors, available); status.failed())
    return status;
  for (const TensorHeader &description : reader.tensors) {
    Tensor tensor;
    if (Status status = takeTensor(description, source, first, tensor);
        status.failed())
      return status;
    file.tensors[description.name] = std::move(tensor);
  }
  file.metadata = std::move(reader.metadata);
  // The seal covers the stored numbers.
  Status status = checkSeal(file);
  if (status.succeeded())
    widenRounded(file);
  return status;
}

Status fovea::runtime::readTensors(const TensorSource &source,
                                   const std::string &name, TensorFile &file) {
  file = TensorFile();
  Status status = parse(source, file);
  if (status.succeeded())
    return status;
  file = TensorFile();
  return Status::error(status.getMessage(), name);
}

Status fovea::runtime::parseSafeTensors(std::string_view bytes,
                                        const std::string &name,
                                        TensorFile &file) {
  auto read = [&](uint64_t offset, void *to, uint64_t count) {
    std::memcpy(to, bytes.data() + offset, count);
    return true;
  };
  return readTensors({bytes.size(), read}, name, file);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Names are sorted; the widest types come first, so every tensor is
/// aligned.
static TensorLayout::Order orderOf(const TensorFile &file) {
  TensorLayout::Order order;
  for (const auto &entry : file.tensors)
    order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
    size_t sizeA = sizeOf(a->second.type), sizeB = sizeOf(b->second.type);
    return sizeA != sizeB ? sizeA > sizeB : a->first < b->first;
  });
  return order;
}

/// Everything before the tensors.
static std::string beginningOf(const TensorFile &file,
                               const TensorLayout::Order &order) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto &[key, value] : file.metadata)
    header["__metadata__"][key] = value;
  header["__metadata__"][sealKey] = sealOf(file);
  size_t offset = 0;
  for (const auto *entry : order) {
    const Tensor &tensor = entry->second;
    size_t end = offset + tensor.bytes.size();
    header[entry->first] = {{"dtype", nameOf(tensor.type)},
                            {"shape", tensor.shape},
                            {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text =
      header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<char>(text.size() >> (8 * i));
  return length + text;
}

TensorLayout fovea::runtime::layoutOf(const TensorFile &file) {
  TensorLayout layout;
  layout.order = orderOf(file);
  layout.beginning = beginningOf(file, layout.order);
  return layout;
}

std::string fovea::runtime::formatSafeTensors(const TensorFile &file) {
  auto [text, order] = layoutOf(file);
  for (const auto *entry : order) {
    const std::vector<std::byte> &bytes = entry->second.bytes;
    text.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }
  return text;
}
