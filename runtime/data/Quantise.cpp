//===- Quantise.cpp - weights in fewer bits -------------------------------===//

#include "runtime/data/Quantise.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <set>

using namespace fovea::runtime;

/// Whether names of this format end in a number.
static bool hasNumber(const StorageFormat &format) {
  return format.kind != StorageFormat::Rounded || format.hasColumns();
}

std::string fovea::runtime::narrowName(const std::string &path,
                                       const StorageFormat &format,
                                       size_t number) {
  return hasNumber(format) ? fmt::format("{}:{}.{}", path, format.name, number)
                           : fmt::format("{}:{}", path, format.name);
}

std::string fovea::runtime::scaleName(const std::string &path,
                                      const StorageFormat &format,
                                      size_t axis) {
  return fmt::format("{}:{}.{}", path, format.columnScale, axis);
}

bool fovea::runtime::readQuantisedName(const std::string &name,
                                       QuantisedName &result) {
  size_t colon = name.rfind(':');
  if (colon == name.npos)
    return false;
  std::string_view rest = std::string_view(name).substr(colon + 1);
  size_t dot = rest.find('.');
  std::string_view ending = rest.substr(0, dot);
  result.path = name.substr(0, colon);
  result.format = nullptr;
  for (const StorageFormat &format : storageFormats())
    if (bool isScale = format.hasColumns() && format.columnScale == ending;
        isScale || format.name == ending) {
      result.format = &format;
      result.isScale = isScale;
    }
  if (!result.format)
    return false;
  if (!hasNumber(*result.format))
    return dot == rest.npos;
  if (dot == rest.npos)
    return false;
  rest.remove_prefix(dot + 1);
  auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), result.number);
  return error == std::errc() && end == rest.data() + rest.size();
}

std::string fovea::runtime::originalName(const std::string &name) {
  QuantisedName own;
  return readQuantisedName(name, own) ? own.path : name;
}

/// Beyond the normal numbers a scale is not exact: numbers stay in range.
static float quotientOf(float weight, float scale, float least, float most) {
  return scale == 0 ? 0 : std::clamp(weight / scale, least, most);
}

static int8_t wholeOf(float quotient) {
  // Between 2^23 and 2^24 floats are the whole numbers, so the sum rounds to
  // one: to the nearest, ties to even, and without libm.
  constexpr float whole = 0x1.8p23F;
  return static_cast<int8_t>(quotient + whole - whole);
}

/// Stores numbers in memory; they are little-endian there.
static void store(const StorageFormat &format, uint32_t bits,
                  std::byte *memory) {
  std::memcpy(memory, &bits, format.bytes);
}

static Status notFinite(const QuantisedName &name) {
  return Status::error(
      fmt::format("'{}' has weights that are not finite, which {} cannot "
                  "represent; help: use '--precision f32'",
                  name.path, name.format->name));
}

static Status tooLarge(const QuantisedName &name, float weight) {
  return Status::error(
      fmt::format("'{}' has a weight of {}, which {} cannot represent; help: "
                  "use '--precision f32'",
                  name.path, weight, name.format->name));
}

static Status quantiseColumns(const QuantisedName &name, const Tensor &weights,
                              Tensor &numbers, Tensor &scales) {
  const StorageFormat &format = *name.format;
  const float largest = largestOf(format);
  int64_t inner = 1, count = weights.shape[name.number];
  for (size_t i = name.number + 1; i < weights.shape.size(); ++i)
    inner *= weights.shape[i];
  int64_t all = weights.numElements();
  auto at = [&](int64_t i) { return static_cast<float>(weights.at(i)); };
  numbers = {format.type, weights.shape, {}};
  numbers.bytes.resize(all * format.bytes);
  scales = {DType::F32, weights.shape, {}};
  scales.shape.erase(scales.shape.begin() + static_cast<int64_t>(name.number));
  scales.bytes.resize(scales.numElements() * sizeof(float));
  for (int64_t column = 0; column < scales.numElements(); ++column) {
    int64_t first = column / inner * inner * count + column % inner;
    float most = 0;
    for (int64_t term = 0; term < count; ++term) {
      float size = std::abs(at(first + term * inner));
      if (!std::isfinite(size))
        return notFinite(name);
      most = std::max(most, size);
    }
    float scale = most / largest;
    std::memcpy(scales.bytes.data() + column * sizeof(float), &scale,
                sizeof(float));
    for (int64_t term = 0; term < count; ++term) {
      int64_t place = first + term * inner;
      float quotient = quotientOf(at(place), scale, -largest, largest);
      store(format,
            format.kind == StorageFormat::Rounded
                ? bitsOf(format, quotient)
                : static_cast<uint32_t>(wholeOf(quotient)),
            numbers.bytes.data() + place * format.bytes);
    }
  }
  return Status::success();
}

static Status roundWeights(const QuantisedName &name, const Tensor &weights,
                           Tensor &rounded) {
  const StorageFormat &format = *name.format;
  rounded = {format.type, weights.shape, {}};
  rounded.bytes.resize(weights.numElements() * format.bytes);
  for (int64_t i = 0; i < weights.numElements(); ++i) {
    auto weight = static_cast<float>(weights.at(i));
    if (!std::isfinite(weight) && !format.hasInfinity())
      return notFinite(name);
    uint32_t bits = bitsOf(format, weight);
    if (std::isfinite(weight) && !isFinite(format, bits))
      return tooLarge(name, weight);
    store(format, bits, rounded.bytes.data() + i * format.bytes);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Groups of 4 bits
//===----------------------------------------------------------------------===//

/// The weight of largest size; of equals the first.
static float mostOf(const std::vector<float> &weights) {
  float most = 0;
  for (float weight : weights)
    if (std::abs(weight) > std::abs(most))
      most = weight;
  return most;
}

/// Stores finite weights in bytes of zeros. Returns whether the scale is
/// finite.
static bool storeGroup(const StorageFormat &ofScale,
                       const std::vector<float> &weights, std::byte *group) {
  uint32_t bits = bitsOf(ofScale, mostOf(weights) / -8);
  if (!std::isnormal(numberOf(ofScale, bits)))
    bits = 0;
  float scale = numberOf(ofScale, bits);
  store(ofScale, bits, group);
  for (size_t i = 0; i < weights.size(); ++i) {
    int8_t number = wholeOf(quotientOf(weights[i], scale, -8, 7));
    group[ofScale.bytes + i / 2] |=
        static_cast<std::byte>((number & 15) << i % 2 * 4);
  }
  return std::isfinite(scale * 8);
}

static float weightOf(const StorageFormat &ofScale, const std::byte *group,
                      int64_t i) {
  uint32_t bits = 0;
  std::memcpy(&bits, group, ofScale.bytes);
  int number = static_cast<int>(group[ofScale.bytes + i / 2]) >> i % 2 * 4 & 15;
  // A zero is positive.
  return number == 0
             ? 0
             : numberOf(ofScale, bits) *
                   static_cast<float>(number < 8 ? number : number - 16);
}

static Status storeGroups(const QuantisedName &name, const Tensor &weights,
                          Tensor &stored) {
  const StorageFormat &ofScale = *findStorageFormat(name.format->groupScale);
  auto extent = static_cast<int64_t>(name.number);
  int64_t groups = groupsIn(extent);
  stored = {name.format->type, weights.shape, {}};
  stored.shape.back() = groups;
  stored.shape.push_back(bytesOfGroup);
  stored.bytes.resize(stored.numElements());
  std::byte *group = stored.bytes.data();
  for (int64_t row = 0; row < weights.numElements(); row += extent)
    for (int64_t first = 0; first < extent; first += weightsOfGroup) {
      std::vector<float> own;
      for (int64_t i = first; i < std::min(extent, first + weightsOfGroup); ++i)
        own.push_back(static_cast<float>(weights.at(row + i)));
      for (float weight : own)
        if (!std::isfinite(weight))
          return notFinite(name);
      if (!storeGroup(ofScale, own, group))
        return tooLarge(name, mostOf(own));
      group += bytesOfGroup;
    }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// As real numbers
//===----------------------------------------------------------------------===//

/// The extent of a row of groups; 0 for a tensor that has none.
static int64_t extentOfGroups(const std::string &name, const Tensor &stored) {
  QuantisedName own;
  return readQuantisedName(name, own) &&
                 own.format->kind == StorageFormat::Groups &&
                 stored.type == own.format->type
             ? static_cast<int64_t>(own.number)
             : 0;
}

std::vector<int64_t> fovea::runtime::wideShape(const std::string &name,
                                               const Tensor &stored) {
  std::vector<int64_t> shape = stored.shape;
  int64_t extent = extentOfGroups(name, stored);
  if (extent == 0 || shape.size() < 2 || shape.back() != bytesOfGroup ||
      shape[shape.size() - 2] != groupsIn(extent))
    return shape;
  shape.pop_back();
  shape.back() = extent;
  return shape;
}

/// Writes numbers in such a format as reals.
template <typename T>
static void widenInto(const QuantisedName &name, const std::byte *from,
                      int64_t count, T *to) {
  const StorageFormat &format = *name.format;
  const StorageFormat *ofScale = findStorageFormat(format.groupScale);
  auto extent = static_cast<int64_t>(name.number);
  for (int64_t i = 0; i < count; ++i)
    switch (format.kind) {
    case StorageFormat::Rounded: {
      uint32_t bits = 0;
      std::memcpy(&bits, from + i * format.bytes, format.bytes);
      to[i] = static_cast<T>(numberOf(format, bits));
      break;
    }
    case StorageFormat::Whole:
      to[i] = static_cast<T>(elementOf(format.type, from, i));
      break;
    case StorageFormat::Groups:
      to[i] = static_cast<T>(weightOf(*ofScale,
                                      from + groupOf(i, extent) * format.bytes,
                                      i % extent % format.weights));
      break;
    }
}

void fovea::runtime::widenInto(const std::string &name, const std::byte *from,
                               int64_t count, DType type, std::byte *to) {
  QuantisedName own;
  readQuantisedName(name, own);
  if (type == DType::F64)
    ::widenInto(own, from, count, reinterpret_cast<double *>(to));
  else
    ::widenInto(own, from, count, reinterpret_cast<float *>(to));
}

void fovea::runtime::widenInto(const std::string &name, const Tensor &stored,
                               DType type, std::byte *to) {
  const StorageFormat *format = narrowFormat(name);
  if (format && format->type == stored.type) {
    int64_t count = 1;
    for (int64_t extent : wideShape(name, stored))
      count *= extent;
    widenInto(name, stored.bytes.data(), count, type, to);
    return;
  }
  Tensor wide = stored.type == type
                    ? Tensor()
                    : Tensor::of(type, stored.shape, stored.toDoubles());
  const Tensor &all = stored.type == type ? stored : wide;
  std::copy(all.bytes.begin(), all.bytes.end(), to);
}

Tensor fovea::runtime::widened(const std::string &name, const Tensor &stored,
                               DType type) {
  // What is stored otherwise does not match the model.
  if (extentOfGroups(name, stored) != 0 &&
      wideShape(name, stored) == stored.shape)
    return stored;
  Tensor wide = {type, wideShape(name, stored), {}};
  wide.bytes.resize(wide.numElements() * sizeOf(type));
  widenInto(name, stored, type, wide.bytes.data());
  return wide;
}

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

const StorageFormat *fovea::runtime::narrowFormat(const std::string &name) {
  QuantisedName own;
  return readQuantisedName(name, own) && !own.isScale ? own.format : nullptr;
}

int64_t fovea::runtime::narrowBytes(const StorageFormat &format,
                                    const std::vector<int64_t> &shape) {
  int64_t rows = 1, extent = shape.back();
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
    rows *= shape[axis];
  return rows * ((extent + format.weights - 1) / format.weights) * format.bytes;
}

std::vector<std::byte>
fovea::runtime::narrowed(const std::string &name,
                         const std::vector<double> &values) {
  QuantisedName own;
  readQuantisedName(name, own);
  auto count = static_cast<int64_t>(values.size());
  Tensor tensor = Tensor::of(DType::F32, {count}, values), stored;
  Status status = Status::success();
  switch (own.format->kind) {
  case StorageFormat::Rounded:
    status = roundWeights(own, tensor, stored);
    break;
  case StorageFormat::Whole:
    stored = Tensor::of(own.format->type, {count}, values);
    break;
  case StorageFormat::Groups:
    auto extent = static_cast<int64_t>(own.number);
    tensor.shape = {extent == 0 ? 0 : count / extent, extent};
    status = storeGroups(own, tensor, stored);
    break;
  }
  assert(status.succeeded() && "the format has these numbers");
  return std::move(stored.bytes);
}

Status fovea::runtime::takeNarrow(TensorFile &file, TensorFile &narrow) {
  for (auto at = file.tensors.begin(); at != file.tensors.end();) {
    auto next = std::next(at);
    const auto &[name, tensor] = *at;
    if (const StorageFormat *format = narrowFormat(name)) {
      bool isWhole = format->kind != StorageFormat::Groups ||
                     wideShape(name, tensor) != tensor.shape;
      if (tensor.type != format->type || !isWhole)
        return Status::error(
            fmt::format("'{}' is {} {}, which is not how a program stores it",
                        name, nameOf(tensor.type), shapeText(tensor.shape)));
      narrow.tensors.insert(file.tensors.extract(at));
    }
    at = next;
  }
  return Status::success();
}

Status fovea::runtime::quantise(const QuantisedName &name,
                                const Tensor &weights,
                                std::map<std::string, Tensor> &parts) {
  const StorageFormat &format = *name.format;
  Tensor &numbers = parts[narrowName(name.path, format, name.number)];
  if (format.hasColumns())
    return quantiseColumns(name, weights, numbers,
                           parts[scaleName(name.path, format, name.number)]);
  return format.kind == StorageFormat::Groups
             ? storeGroups(name, weights, numbers)
             : roundWeights(name, weights, numbers);
}

/// Whether the weights have the axis that a name of one of the parts says.
static bool fits(const QuantisedName &name, const Tensor &weights) {
  const std::vector<int64_t> &shape = weights.shape;
  if (!hasNumber(*name.format))
    return true;
  return name.format->kind == StorageFormat::Groups
             ? !shape.empty() &&
                   shape.back() == static_cast<int64_t>(name.number)
             : name.number < shape.size();
}

Status fovea::runtime::quantise(TensorFile &file,
                                const std::vector<std::string> &names) {
  std::set<std::string> wanted(names.begin(), names.end());
  std::map<std::string, std::vector<std::string>> forms; // by parameter
  QuantisedName own;
  for (const std::string &name : wanted)
    if (readQuantisedName(name, own))
      forms[own.path].push_back(name);
  for (const auto &[path, parts] : forms) {
    auto found = file.tensors.find(path);
    if (found == file.tensors.end() || !found->second.isReal())
      continue;
    bool isReplaced = false;
    for (const std::string &name : parts) {
      // Numbers come with their scales.
      if (file.tensors.contains(name) || !readQuantisedName(name, own) ||
          !fits(own, found->second))
        continue;
      if (Status status = quantise(own, found->second, file.tensors);
          status.failed())
        return status;
      isReplaced = true;
    }
    if (isReplaced && !wanted.contains(path))
      file.tensors.erase(found);
  }
  return Status::success();
}
