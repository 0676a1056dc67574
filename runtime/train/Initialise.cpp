//===- Initialise.cpp - what the parameters begin with --------------------===//

#include "runtime/train/Initialise.h"
#include "runtime/Functions.h"
#include "runtime/Philox.h"

#include <cassert>
#include <cmath>
#include <cstdlib>

using namespace fovea::runtime;

/// The maximum number of elements of one parameter: a terabyte of F64.
static constexpr int64_t mostValues = int64_t(1) << 37;

namespace {

/// A constant, or a distribution around 0.
struct Start {
  enum Kind { Constant, Uniform, Normal } kind;
  double size; // the constant, the bound, the standard deviation
};

struct Scheme {
  std::string name; // empty: as PyTorch
  double argument = 0;
};

using Siblings = std::map<std::string, const InitialParameter *>;

} // namespace

/// Two uniform numbers in [0, 1) for one element of one parameter.
static std::pair<double, double> uniforms(uint64_t seed, uint64_t path,
                                          uint64_t element) {
  std::array<uint32_t, 4> words =
      philox({uint32_t(element), uint32_t(element >> 32), uint32_t(path),
              uint32_t(path >> 32)},
             {uint32_t(seed), uint32_t(seed >> 32)});
  auto unit = [](uint32_t high, uint32_t low) {
    return double((uint64_t(high) << 21) | (low >> 11)) / 9007199254740992.0;
  };
  return {unit(words[0], words[1]), unit(words[2], words[3])};
}

/// FNV-1a: the same on every machine.
static uint64_t hashOf(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : text)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

/// Returns how many values one output of a weight sums over: all axes but the
/// first.
static double fanIn(const InitialParameter &parameter) {
  double count = 1;
  for (size_t axis = 1; axis < parameter.shape.size(); ++axis)
    count *= double(parameter.shape[axis]);
  return count;
}

static std::string moduleOf(const std::string &path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

static double inverseRoot(double count) {
  return count > 0 ? 1 / std::sqrt(count) : 0;
}

static Start defaultStart(const InitialParameter &parameter,
                          const Siblings &siblings) {
  std::string module = moduleOf(parameter.path);
  auto sibling = [&](const char *name) -> const InitialParameter * {
    auto found = siblings.find(module.empty() ? name : module + "." + name);
    return found == siblings.end() ? nullptr : found->second;
  };
  if (parameter.role == "embedding:weight")
    return {Start::Normal, 1};
  // Initialises a recurrent cell by its size, including bias and peepholes.
  if (const InitialParameter *state = sibling("weight_hh"))
    return {Start::Uniform, inverseRoot(fanIn(*state))};
  if (parameter.shape.size() >= 2)
    return {Start::Uniform, inverseRoot(fanIn(parameter))};
  if (const InitialParameter *weight = sibling("weight");
      weight && weight->shape.size() >= 2)
    return {Start::Uniform, inverseRoot(fanIn(*weight))};
  double length = parameter.shape.empty() ? 1 : double(parameter.shape[0]);
  return {Start::Uniform, inverseRoot(length)};
}

/// Norms begin without an effect of their own: weights at 1, biases at 0.
static bool isOfNorm(const std::string &role, const char *part) {
  return role == std::string("layer_norm:") + part ||
         role == std::string("rms_norm:") + part ||
         role == std::string("group_norm:") + part ||
         role == std::string("batch_norm:") + part;
}

static Start startOf(const InitialParameter &parameter, const Scheme &scheme,
                     const Siblings &siblings) {
  if (parameter.role.starts_with("= "))
    return {Start::Constant, std::strtod(parameter.role.c_str() + 2, nullptr)};
  if (isOfNorm(parameter.role, "weight"))
    return {Start::Constant, 1};
  if (isOfNorm(parameter.role, "bias"))
    return {Start::Constant, 0};
  if (scheme.name.empty())
    return defaultStart(parameter, siblings);
  if (scheme.name == "uniform")
    return {Start::Uniform, scheme.argument};
  if (scheme.name == "normal")
    return {Start::Normal, scheme.argument};
  if (scheme.name == "zeros" || parameter.shape.size() < 2)
    return {Start::Constant, 0};
  double in = fanIn(parameter);
  double out = double(parameter.shape[0]);
  if (scheme.name == "glorot")
    return {Start::Uniform, std::sqrt(6 / (in + out))};
  if (scheme.name == "glorot_normal")
    return {Start::Normal, std::sqrt(2 / (in + out))};
  return {Start::Normal, std::sqrt(2 / in)};
}

/// Parses `normal(0.1)` or `glorot`.
static Status readScheme(const std::string &text, Scheme &scheme) {
  size_t open = text.find('(');
  scheme.name = text.substr(0, open);
  bool takesNumber = scheme.name == "uniform" || scheme.name == "normal";
  bool isKnown = takesNumber || scheme.name.empty() || scheme.name == "zeros" ||
                 scheme.name == "glorot" || scheme.name == "glorot_normal" ||
                 scheme.name == "he";
  if (!isKnown)
    return Status::error(
        "'" + scheme.name +
        "' is not an initialiser; the initialisers are uniform(a), normal(sd), "
        "glorot, glorot_normal, he and zeros");
  if (!takesNumber) {
    if (open == std::string::npos)
      return Status::success();
    return Status::error("the initialiser '" + scheme.name +
                         "' takes no argument");
  }
  const char *begin =
      text.c_str() + (open == std::string::npos ? text.size() : open + 1);
  char *end = nullptr;
  scheme.argument = std::strtod(begin, &end);
  if (end == begin || std::string(end) != ")" || !(scheme.argument >= 0) ||
      std::isinf(scheme.argument))
    return Status::error("the initialiser '" + scheme.name +
                         "' takes a number of at least 0, as in " +
                         scheme.name + "(0.1)");
  return Status::success();
}

Status
fovea::runtime::initialise(const std::vector<InitialParameter> &parameters,
                           const std::string &text, uint64_t seed, DType type,
                           TensorFile &file) {
  Scheme scheme;
  if (Status status = readScheme(text, scheme); status.failed())
    return status;
  Siblings siblings;
  for (const InitialParameter &parameter : parameters)
    siblings[parameter.path] = &parameter;
  for (const InitialParameter &parameter : parameters) {
    int64_t count = 1;
    for (int64_t extent : parameter.shape)
      if (__builtin_mul_overflow(count, extent, &count) || count > mostValues)
        return Status::error("'" + parameter.path + "' has extents " +
                             shapeText(parameter.shape) +
                             ", which no file can hold");
    const InitialParameter *source = &parameter;
    if (parameter.role.starts_with("as ")) {
      auto found = siblings.find(parameter.role.substr(3));
      assert(found != siblings.end() && "a state begins as a parameter");
      source = found->second;
    }
    Start start = startOf(*source, scheme, siblings);
    std::vector<double> values(count, start.size);
    uint64_t path = hashOf(source->path);
    for (int64_t i = 0; start.kind != Start::Constant && i < count; ++i) {
      auto [a, b] = uniforms(seed, path, uint64_t(i));
      // Box and Muller (1958); 1 - a is never 0.
      double value = start.kind == Start::Uniform
                         ? 2 * a - 1
                         : std::sqrt(-2 * logOf(1 - a)) * cosOfTurns(b);
      values[i] *= value;
    }
    file.tensors[parameter.path] = Tensor::of(type, parameter.shape, values);
  }
  return Status::success();
}
