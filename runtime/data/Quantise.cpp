//===- Quantise.cpp - weights as whole numbers of 8 bits ------------------===//

#include "runtime/data/Quantise.h"

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

bool fovea::runtime::readQuantisedName(const std::string &name,
                                       QuantisedName &result) {
  size_t colon = name.rfind(':');
  if (colon == name.npos)
    return false;
  std::string_view rest = std::string_view(name).substr(colon + 1);
  result.isScale = rest.starts_with("scale.");
  if (!result.isScale && !rest.starts_with("int8."))
    return false;
  rest.remove_prefix(rest.find('.') + 1);
  auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), result.axis);
  result.path = name.substr(0, colon);
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

Status fovea::runtime::quantise(const std::string &path, const Tensor &weights,
                                size_t axis, Tensor &numbers, Tensor &scales) {
  int64_t inner = 1, count = weights.shape[axis];
  for (size_t i = axis + 1; i < weights.shape.size(); ++i)
    inner *= weights.shape[i];
  int64_t all = weights.numElements();
  auto at = [&](int64_t i) { return static_cast<float>(weights.at(i)); };
  numbers = {DType::I8, weights.shape, {}};
  numbers.bytes.resize(all);
  scales = {DType::F32, weights.shape, {}};
  scales.shape.erase(scales.shape.begin() + static_cast<int64_t>(axis));
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
                        path));
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

Status fovea::runtime::quantise(TensorFile &file,
                                const std::vector<std::string> &names) {
  std::set<std::string> wanted(names.begin(), names.end()), replaced;
  for (const std::string &name : names) {
    QuantisedName own;
    if (file.tensors.contains(name) || !readQuantisedName(name, own))
      continue;
    auto found = file.tensors.find(own.path);
    if (found == file.tensors.end() || !found->second.isReal() ||
        own.axis >= found->second.shape.size())
      continue;
    Tensor numbers, scales;
    if (Status status =
            quantise(own.path, found->second, own.axis, numbers, scales);
        status.failed())
      return status;
    file.tensors[int8Name(own.path, own.axis)] = std::move(numbers);
    file.tensors[scaleName(own.path, own.axis)] = std::move(scales);
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
