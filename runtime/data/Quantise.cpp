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
  bool isScale = rest.starts_with("scale.");
  if (!isScale && !rest.starts_with("int8."))
    return false;
  result.part = isScale ? QuantisedName::Scales : QuantisedName::Numbers;
  rest.remove_prefix(rest.find('.') + 1);
  auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), result.axis);
  return error == std::errc() && end == rest.data() + rest.size();
}

/// Beyond the normal numbers a scale is not exact: numbers stay in range.
static float numberOf(float weight, float scale) {
  if (!(scale > 0))
    return 0;
  // Between 2^23 and 2^24 floats are the whole numbers, so the sum rounds to
  // one: to the nearest, ties to even, and without libm.
  constexpr float whole = 0x1.8p23F;
  return std::clamp(weight / scale, -127.F, 127.F) + whole - whole;
}

static Status quantiseColumns(const QuantisedName &name, const Tensor &weights,
                              Tensor &numbers, Tensor &scales) {
  int64_t inner = 1, count = weights.shape[name.axis];
  for (size_t i = name.axis + 1; i < weights.shape.size(); ++i)
    inner *= weights.shape[i];
  int64_t all = weights.numElements();
  auto at = [&](int64_t i) { return static_cast<float>(weights.at(i)); };
  numbers = {DType::I8, weights.shape, {}};
  numbers.bytes.resize(all);
  scales = {DType::F32, weights.shape, {}};
  scales.shape.erase(scales.shape.begin() + static_cast<int64_t>(name.axis));
  scales.bytes.resize(scales.numElements() * sizeof(float));
  for (int64_t column = 0; column < scales.numElements(); ++column) {
    int64_t first = column / inner * inner * count + column % inner;
    float most = 0;
    for (int64_t term = 0; term < count; ++term) {
      float size = std::abs(at(first + term * inner));
      if (!std::isfinite(size))
        return Status::error(
            fmt::format("'{}' has weights that are not finite, which int8 "
                        "cannot represent; help: use '--precision f32'",
                        name.path));
      most = std::max(most, size);
    }
    float scale = most / 127;
    std::memcpy(scales.bytes.data() + column * sizeof(float), &scale,
                sizeof(float));
    for (int64_t term = 0; term < count; ++term) {
      int64_t place = first + term * inner;
      numbers.bytes[place] = static_cast<std::byte>(
          static_cast<int8_t>(numberOf(at(place), scale)));
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
      return Status::error(
          fmt::format("'{}' has a weight of {}, which bf16 cannot represent; "
                      "help: use '--precision f32'",
                      path, weight));
    std::memcpy(rounded.bytes.data() + i * sizeof(bits), &bits, sizeof(bits));
  }
  return Status::success();
}

Status fovea::runtime::quantise(const QuantisedName &name,
                                const Tensor &weights,
                                std::map<std::string, Tensor> &parts) {
  if (name.part == QuantisedName::Rounded)
    return roundWeights(name.path, weights, parts[bf16Name(name.path)]);
  return quantiseColumns(name, weights, parts[int8Name(name.path, name.axis)],
                         parts[scaleName(name.path, name.axis)]);
}

Status fovea::runtime::quantise(TensorFile &file,
                                const std::vector<std::string> &names) {
  std::set<std::string> wanted(names.begin(), names.end()), replaced;
  for (const std::string &name : names) {
    QuantisedName own;
    if (file.tensors.contains(name) || !readQuantisedName(name, own))
      continue;
    auto found = file.tensors.find(own.path);
    if (found == file.tensors.end() || !found->second.isReal() ||
        (own.part != QuantisedName::Rounded &&
         own.axis >= found->second.shape.size()))
      continue;
    if (Status status = quantise(own, found->second, file.tensors);
        status.failed())
      return status;
    replaced.insert(own.path);
  }
  for (const std::string &path : replaced)
    if (!wanted.contains(path))
      file.tensors.erase(path);
  return Status::success();
}

void fovea::runtime::widenNumbers(TensorFile &file, DType type) {
  QuantisedName own;
  for (auto &[path, tensor] : file.tensors)
    if (tensor.type != type && readQuantisedName(path, own))
      tensor = Tensor::of(type, tensor.shape, tensor.toDoubles());
}
