//===- Quantise.cpp - weights in fewer bits -------------------------------===//

#include "runtime/data/Quantise.h"
#include "runtime/data/Half.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <set>

using namespace fovea::runtime;

std::string fovea::runtime::int8Name(const std::string &path, size_t axis) {
  return fmt::format("{}:int8.{}", path, axis);
}

std::string fovea::runtime::scaleName(const std::string &path, size_t axis) {
  return fmt::format("{}:scale.{}", path, axis);
}

std::string fovea::runtime::bf16Name(const std::string &path) {
  return path + ":bf16";
}

std::string fovea::runtime::int4Name(const std::string &path, size_t extent) {
  return fmt::format("{}:int4.{}", path, extent);
}

bool fovea::runtime::readQuantisedName(const std::string &name,
                                       QuantisedName &result) {
  size_t colon = name.rfind(':');
  if (colon == name.npos)
    return false;
  std::string_view rest = std::string_view(name).substr(colon + 1);
  result.path = name.substr(0, colon);
  if (rest == "bf16") {
    result.part = QuantisedName::Rounded;
    return true;
  }
  if (rest.starts_with("scale."))
    result.part = QuantisedName::Scales;
  else if (rest.starts_with("int8."))
    result.part = QuantisedName::Numbers;
  else if (rest.starts_with("int4."))
    result.part = QuantisedName::Groups;
  else
    return false;
  rest.remove_prefix(rest.find('.') + 1);
  auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), result.number);
  return error == std::errc() && end == rest.data() + rest.size();
}

std::string fovea::runtime::originalName(const std::string &name) {
  QuantisedName own;
  return readQuantisedName(name, own) ? own.path : name;
}

/// Beyond the normal numbers a scale is not exact: numbers stay in range.
static float numberOf(float weight, float scale, float least, float most) {
  if (scale == 0)
    return 0;
  // Between 2^23 and 2^24 floats are the whole numbers, so the sum rounds to
  // one: to the nearest, ties to even, and without libm.
  constexpr float whole = 0x1.8p23F;
  return std::clamp(weight / scale, least, most) + whole - whole;
}

static Status notFinite(const std::string &path, const char *format) {
  return Status::error(
      fmt::format("'{}' has weights that are not finite, which {} cannot "
                  "represent; help: use '--precision f32'",
                  path, format));
}

static Status tooLarge(const std::string &path, float weight,
                       const char *format) {
  return Status::error(
      fmt::format("'{}' has a weight of {}, which {} cannot represent; help: "
                  "use '--precision f32'",
                  path, weight, format));
}

static Status quantiseColumns(const QuantisedName &name, const Tensor &weights,
                              Tensor &numbers, Tensor &scales) {
  int64_t inner = 1, count = weights.shape[name.number];
  for (size_t i = name.number + 1; i < weights.shape.size(); ++i)
    inner *= weights.shape[i];
  int64_t all = weights.numElements();
  auto at = [&](int64_t i) { return static_cast<float>(weights.at(i)); };
  numbers = {DType::I8, weights.shape, {}};
  numbers.bytes.resize(all);
  scales = {DType::F32, weights.shape, {}};
  scales.shape.erase(scales.shape.begin() + static_cast<int64_t>(name.number));
  scales.bytes.resize(scales.numElements() * sizeof(float));
  for (int64_t column = 0; column < scales.numElements(); ++column) {
    int64_t first = column / inner * inner * count + column % inner;
    float most = 0;
    for (int64_t term = 0; term < count; ++term) {
      float size = std::abs(at(first + term * inner));
      if (!std::isfinite(size))
        return notFinite(name.path, "int8");
      most = std::max(most, size);
    }
    float scale = most / 127;
    std::memcpy(scales.bytes.data() + column * sizeof(float), &scale,
                sizeof(float));
    for (int64_t term = 0; term < count; ++term) {
      int64_t place = first + term * inner;
      numbers.bytes[place] = static_cast<std::byte>(
          static_cast<int8_t>(numberOf(at(place), scale, -127, 127)));
    }
  }
  return Status::success();
}

static Status roundWeights(const std::string &path, const Tensor &weights,
                           Tensor &rounded) {
  rounded = {DType::BF16, weights.shape, {}};
  rounded.bytes.resize(weights.numElements() * sizeof(uint16_t));
  for (int64_t i = 0; i < weights.numElements(); ++i) {
    auto weight = static_cast<float>(weights.at(i));
    uint16_t bits = brainBits(weight);
    if (std::isfinite(weight) && !std::isfinite(brainOf(bits)))
      return tooLarge(path, weight, "bf16");
    std::memcpy(rounded.bytes.data() + i * sizeof(bits), &bits, sizeof(bits));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Groups of 4 bits
//===----------------------------------------------------------------------===//

/// The weight of largest size; of equals the first.
static float largestOf(const std::vector<float> &weights) {
  float most = 0;
  for (float weight : weights)
    if (std::abs(weight) > std::abs(most))
      most = weight;
  return most;
}

/// Stores finite weights in bytes of zeros. Returns whether bf16 has the scale.
static bool storeGroup(const std::vector<float> &weights, std::byte *group) {
  uint16_t bits = brainBits(largestOf(weights) / -8);
  if (!std::isnormal(brainOf(bits)))
    bits = 0;
  float scale = brainOf(bits);
  std::memcpy(group, &bits, sizeof(bits));
  for (size_t i = 0; i < weights.size(); ++i) {
    auto number = static_cast<int8_t>(numberOf(weights[i], scale, -8, 7));
    group[sizeof(bits) + i / 2] |=
        static_cast<std::byte>((number & 15) << i % 2 * 4);
  }
  return std::isfinite(scale * 8);
}

static float weightOf(const std::byte *group, int64_t i) {
  uint16_t bits = 0;
  std::memcpy(&bits, group, sizeof(bits));
  int number = static_cast<int>(group[sizeof(bits) + i / 2]) >> i % 2 * 4 & 15;
  // A zero is positive.
  return number == 0
             ? 0
             : brainOf(bits) *
                   static_cast<float>(number < 8 ? number : number - 16);
}

static Status storeGroups(const QuantisedName &name, const Tensor &weights,
                          Tensor &stored) {
  auto extent = static_cast<int64_t>(name.number);
  int64_t groups = groupsIn(extent);
  stored = {DType::U8, weights.shape, {}};
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
          return notFinite(name.path, "int4");
      if (!storeGroup(own, group))
        return tooLarge(name.path, largestOf(own), "int4");
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
  return readQuantisedName(name, own) && own.part == QuantisedName::Groups &&
                 stored.type == DType::U8
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

template <typename T>
static void widenInto(const std::string &name, const Tensor &stored, T *to) {
  int64_t count = stored.numElements(), extent = extentOfGroups(name, stored);
  if (extent == 0) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<T>(stored.at(i));
    return;
  }
  for (int64_t row = 0; row < count; row += groupsIn(extent) * bytesOfGroup)
    for (int64_t i = 0; i < extent; ++i)
      *to++ = weightOf(&stored.bytes[row + i / weightsOfGroup * bytesOfGroup],
                       i % weightsOfGroup);
}

void fovea::runtime::widenInto(const std::string &name, const Tensor &stored,
                               DType type, std::byte *to) {
  if (stored.type == type)
    std::copy(stored.bytes.begin(), stored.bytes.end(), to);
  else if (type == DType::F64)
    ::widenInto(name, stored, reinterpret_cast<double *>(to));
  else
    ::widenInto(name, stored, reinterpret_cast<float *>(to));
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

Status fovea::runtime::quantise(const QuantisedName &name,
                                const Tensor &weights,
                                std::map<std::string, Tensor> &parts) {
  switch (name.part) {
  case QuantisedName::Rounded:
    return roundWeights(name.path, weights, parts[bf16Name(name.path)]);
  case QuantisedName::Groups:
    return storeGroups(name, weights, parts[int4Name(name.path, name.number)]);
  case QuantisedName::Numbers:
  case QuantisedName::Scales:
    break;
  }
  return quantiseColumns(name, weights, parts[int8Name(name.path, name.number)],
                         parts[scaleName(name.path, name.number)]);
}

/// Whether the weights have the axis that a name of one of the parts says.
static bool fits(const QuantisedName &name, const Tensor &weights) {
  const std::vector<int64_t> &shape = weights.shape;
  if (name.part == QuantisedName::Rounded)
    return true;
  return name.part == QuantisedName::Groups
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

void fovea::runtime::widenNumbers(TensorFile &file, DType type) {
  QuantisedName own;
  for (auto &[path, tensor] : file.tensors)
    if (tensor.type != type && readQuantisedName(path, own))
      tensor = widened(path, tensor, type);
}
