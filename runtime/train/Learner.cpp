//===- Learner.cpp - weights, gradients and their updates -----------------===//

#include "runtime/train/Learner.h"
#include "runtime/Philox.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <numbers>

using namespace fovea::runtime;

/// Each parameter begins at a multiple of a cache line.
static constexpr int64_t alignment = 64;

namespace {

/// A parameter and its place in the arrays.
struct Span {
  std::string path;
  std::vector<int64_t> shape;
  int64_t begin = 0, count = 0;
  double clip = 0; // of the values of its gradient; 0: any
  bool isFrozen = false;
};

template <typename T> class LearnerOf : public Learner {
public:
  LearnerOf(const TensorFile &initial, const TrainOptions &options,
            FoveaPool *pool);

  OwnedMemory weightsToLearn(uint64_t seed, int64_t update) override;
  OwnedMemory weights() override { return memoryOf(current.get()); }
  OwnedMemory gradients() override { return memoryOf(slopes.get()); }
  void clearGradients() override {
    if (!slopes)
      slopes = allocate();
    else
      std::memset(slopes.get(), 0, total * sizeof(T));
  }
  void addGradients(const Workspace &workspace) override;
  double learn(int64_t update) override;
  std::string firstNotFinite() const override {
    return firstNotFinite(slopes.get());
  }
  std::string notFinite() const override;
  void storeWeights(TensorFile &file) const override {
    storeArray(file, "", current.get());
  }
  void store(TensorFile &file) const override;
  std::vector<std::string> load(const TensorFile &file,
                                bool isSameRule) override;

private:
  struct Free {
    void operator()(T *memory) const {
      ::operator delete(memory, std::align_val_t(alignment));
    }
  };
  using Memory = std::unique_ptr<T[], Free>;

  Memory allocate() const {
    int64_t bytes = std::max<int64_t>(total * sizeof(T), alignment);
    void *memory = ::operator new(bytes, std::align_val_t(alignment));
    std::memset(memory, 0, bytes);
    return Memory(static_cast<T *>(memory));
  }
  OwnedMemory memoryOf(T *array) const {
    OwnedMemory memory;
    for (const Span &span : spans)
      if (array)
        memory[span.path] = array + span.begin;
    return memory;
  }
  std::string firstNotFinite(const T *array) const;
  void storeArray(TensorFile &file, const std::string &prefix,
                  const T *array) const;
  void compare(const TensorFile &file, const std::string &prefix,
               const std::string &what,
               std::vector<std::string> &mistakes) const;
  void loadArray(const TensorFile &file, const std::string &prefix, T *array);

  const TrainOptions options;
  FoveaPool *pool;
  std::vector<Span> spans;
  int64_t total = 0;
  Memory current, slopes, noisy, first, second;
};

} // namespace

static constexpr DType typeOf(float) { return DType::F32; }
static constexpr DType typeOf(double) { return DType::F64; }

/// Whether `path` is `name`, or a parameter below it.
static bool isBelow(const std::string &path, const std::string &name) {
  return name.empty() || path == name ||
         path.compare(0, name.size() + 1, name + ".") == 0;
}

/// The limit of the longest name in `limits` that `path` is below.
static double clipOf(const std::map<std::string, double> &limits,
                     const std::string &path) {
  double limit = 0;
  size_t longest = 0;
  for (const auto &[name, value] : limits) {
    if (!isBelow(path, name) || name.size() < longest)
      continue;
    longest = name.size();
    limit = value;
  }
  return limit;
}

template <typename T>
LearnerOf<T>::LearnerOf(const TensorFile &initial, const TrainOptions &options,
                        FoveaPool *pool)
    : options(options), pool(pool) {
  constexpr int64_t step = alignment / sizeof(T);
  for (const auto &[path, tensor] : initial.tensors) {
    int64_t count = tensor.numElements();
    spans.push_back(
        {path, tensor.shape, total, count, clipOf(options.clipValue, path)});
    for (const std::string &name : options.frozen)
      spans.back().isFrozen |= isBelow(path, name);
    total += (count + step - 1) / step * step;
  }
  current = allocate();
  int states = numStates(options.optimiser);
  if (states > 0)
    first = allocate();
  if (states > 1)
    second = allocate();
  if (options.noise > 0)
    noisy = allocate();
  for (const Span &span : spans) {
    const Tensor &tensor = initial.tensors.at(span.path);
    if (tensor.type == typeOf(T())) {
      std::copy(tensor.bytes.begin(), tensor.bytes.end(),
                reinterpret_cast<std::byte *>(current.get() + span.begin));
      continue;
    }
    std::vector<double> values = tensor.toDoubles();
    for (int64_t i = 0; i < span.count; ++i)
      current[span.begin + i] = static_cast<T>(values[i]);
  }
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Of the noise on weights; no ordinal of a model is as large.
static constexpr uint32_t noisePurpose = 0xFFFF0003;

template <typename T>
OwnedMemory LearnerOf<T>::weightsToLearn(uint64_t seed, int64_t update) {
  if (!noisy)
    return weights();
  constexpr double unit = 1.0 / 4294967296.0;
  for (const Span &span : spans)
    for (int64_t i = span.begin; i < span.begin + span.count; ++i) {
      auto words = philox({uint32_t(i), uint32_t(uint64_t(i) >> 32),
                           uint32_t(update), uint32_t(seed >> 32)},
                          {uint32_t(seed), noisePurpose});
      // Box and Muller.
      double radius = std::sqrt(-2 * std::log((words[0] + 1.0) * unit));
      double normal = radius * std::cos(2 * std::numbers::pi * words[1] * unit);
      double noise = span.isFrozen ? 0 : options.noise * normal;
      noisy[i] = current[i] + static_cast<T>(noise);
    }
  return memoryOf(noisy.get());
}

template <typename T>
void LearnerOf<T>::addGradients(const Workspace &workspace) {
  for (const Span &span : spans)
    if (!span.isFrozen)
      workspace.addOutput("grad/" + span.path, slopes.get() + span.begin);
}

template <typename T> double LearnerOf<T>::learn(int64_t update) {
  double norm = std::sqrt(sumOfSquares(slopes.get(), total, pool));
  if (!std::isfinite(norm))
    return norm;
  for (const Span &span : spans)
    if (span.clip > 0)
      clamp(slopes.get() + span.begin, span.clip, span.count);
  if (options.clip > 0) {
    double left = options.clipValue.empty()
                      ? norm
                      : std::sqrt(sumOfSquares(slopes.get(), total, pool));
    if (left > options.clip)
      scale(slopes.get(), options.clip / left, total, pool);
  }
  double rate = rateAt(options.rate, update);
  auto stepOver = [&](int64_t begin, int64_t end) {
    step(options.optimiser, update, rate, current.get() + begin,
         slopes.get() + begin, first ? first.get() + begin : nullptr,
         second ? second.get() + begin : nullptr, end - begin, pool);
  };
  // All that lies between two that are frozen, at once.
  int64_t begin = 0;
  for (const Span &span : spans) {
    if (!span.isFrozen)
      continue;
    stepOver(begin, span.begin);
    begin = span.begin + span.count;
  }
  stepOver(begin, total);
  if (options.columnNorm > 0)
    for (const Span &span : spans)
      if (span.shape.size() > 1 && span.count > 0 && !span.isFrozen)
        limitRows(current.get() + span.begin, span.shape[0],
                  span.count / span.shape[0], options.columnNorm);
  return norm;
}

/// The first parameter of which `array` has a value that is not finite.
template <typename T>
std::string LearnerOf<T>::firstNotFinite(const T *array) const {
  for (const Span &span : spans)
    for (int64_t i = 0; array && i < span.count; ++i)
      if (!std::isfinite(array[span.begin + i]))
        return span.path;
  return "";
}

template <typename T> std::string LearnerOf<T>::notFinite() const {
  if (std::string path = firstNotFinite(current.get()); !path.empty())
    return fmt::format("the weights of '{}' are", path);
  for (const Memory *state : {&first, &second})
    if (std::string path = firstNotFinite(state->get()); !path.empty())
      return fmt::format("the optimiser's values of '{}' are", path);
  return "";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

template <typename T>
void LearnerOf<T>::storeArray(TensorFile &file, const std::string &prefix,
                              const T *array) const {
  for (const Span &span : spans) {
    Tensor &tensor = file.tensors[prefix + span.path];
    tensor.type = typeOf(T());
    tensor.shape = span.shape;
    tensor.bytes.resize(span.count * sizeof(T));
    if (span.count > 0)
      std::memcpy(tensor.bytes.data(), array + span.begin, tensor.bytes.size());
  }
}

template <typename T>
void LearnerOf<T>::compare(const TensorFile &file, const std::string &prefix,
                           const std::string &what,
                           std::vector<std::string> &mistakes) const {
  for (const Span &span : spans) {
    auto found = file.tensors.find(prefix + span.path);
    bool isMissing = found == file.tensors.end();
    if (!isMissing && found->second.shape == span.shape &&
        found->second.type == typeOf(T()))
      continue;
    mistakes.push_back(fmt::format(
        "{}'{}' is {} {} in the model but {} in the training that is resumed",
        what, span.path, nameOf(typeOf(T())), shapeText(span.shape),
        isMissing ? "missing"
                  : fmt::format("{} {}", nameOf(found->second.type),
                                shapeText(found->second.shape))));
  }
  for (const auto &[name, tensor] : file.tensors) {
    if (!name.starts_with(prefix))
      continue;
    std::string path = name.substr(prefix.size());
    if (std::none_of(spans.begin(), spans.end(),
                     [&](const Span &span) { return span.path == path; }))
      mistakes.push_back(fmt::format("{}'{}' of the training that is resumed "
                                     "is no parameter of the model",
                                     what, path));
  }
}

template <typename T>
void LearnerOf<T>::loadArray(const TensorFile &file, const std::string &prefix,
                             T *array) {
  for (const Span &span : spans) {
    const Tensor &tensor = file.tensors.at(prefix + span.path);
    if (span.count > 0)
      std::memcpy(array + span.begin, tensor.bytes.data(), tensor.bytes.size());
  }
}

template <typename T> void LearnerOf<T>::store(TensorFile &file) const {
  storeArray(file, "weights/", current.get());
  if (first)
    storeArray(file, "first/", first.get());
  if (second)
    storeArray(file, "second/", second.get());
}

template <typename T>
std::vector<std::string> LearnerOf<T>::load(const TensorFile &file,
                                            bool isSameRule) {
  std::vector<std::string> mistakes;
  compare(file, "weights/", "", mistakes);
  if (!isSameRule)
    return mistakes;
  // What the weights say of a parameter, its state need not say again.
  if (mistakes.empty() && first)
    compare(file, "first/", "the first state of ", mistakes);
  if (mistakes.empty() && second)
    compare(file, "second/", "the second state of ", mistakes);
  if (!mistakes.empty())
    return mistakes;
  loadArray(file, "weights/", current.get());
  if (first)
    loadArray(file, "first/", first.get());
  if (second)
    loadArray(file, "second/", second.get());
  return mistakes;
}

std::unique_ptr<Learner> Learner::create(const TensorFile &initial,
                                         const TrainOptions &options,
                                         bool isDouble, FoveaPool *pool) {
  if (isDouble)
    return std::make_unique<LearnerOf<double>>(initial, options, pool);
  return std::make_unique<LearnerOf<float>>(initial, options, pool);
}
